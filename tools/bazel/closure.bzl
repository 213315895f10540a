# SPDX-License-Identifier: Apache-2.0
"""What a lab's numbers depend on: every source of ours that it reaches, as one hash.

    lab_closure(name = "lab_closure", lab = ":lab")     makes lab_closure.json

The hash is over the lines "<sha256 of the file>  <path>" of the C++ sources and headers that the
lab's library reaches through deps and implementation-like attributes, sorted by path, and the flags
of the exact profile. Sources of other repositories (Abseil, Highway, ...) are left out: they come
with the distribution, and what they do to a value shows when the value is recomputed. So are prose,
tests, data and BUILD files; the arguments and the data of a run enter the record's hash beside it.
"""

load("//tools/bazel:copts.bzl", "EXACT")

ClosureInfo = provider(
    doc = "Source files of ours below a C++ target.",
    fields = {"sources": "depset of source Files"},
)

_EDGES = ["deps", "hdrs", "interface_deps", "srcs", "textual_hdrs"]

def _closure_aspect_impl(_target, ctx):
    direct = []
    transitive = []
    for edge in _EDGES:
        value = getattr(ctx.rule.attr, edge, None)
        if type(value) != type([]):
            continue
        for dep in value:
            if type(dep) != "Target":
                continue
            if ClosureInfo in dep:
                transitive.append(dep[ClosureInfo].sources)
            if edge != "deps":
                direct += [
                    file
                    for file in dep.files.to_list()
                    if file.is_source and not file.short_path.startswith("../")
                ]
    return [ClosureInfo(sources = depset(direct, transitive = transitive))]

closure_aspect = aspect(
    implementation = _closure_aspect_impl,
    attr_aspects = _EDGES,
)

def _lab_closure_impl(ctx):
    sources = ctx.attr.lab[ClosureInfo].sources
    by_path = {file.short_path: file for file in sources.to_list()}
    files = [by_path[path] for path in sorted(by_path)]
    manifest = ctx.actions.declare_file(ctx.label.name + ".list")
    ctx.actions.write(
        manifest,
        "".join(["flag\t%s\n" % flag for flag in EXACT]) +
        "".join(["file\t%s\t%s\n" % (file.short_path, file.path) for file in files]),
    )
    label = "//%s:%s" % (ctx.attr.lab.label.package, ctx.attr.lab.label.name)
    ctx.actions.run(
        executable = ctx.executable._hasher,
        arguments = [manifest.path, label, ctx.outputs.json.path],
        inputs = depset([manifest], transitive = [sources]),
        outputs = [ctx.outputs.json],
        mnemonic = "LabClosure",
        progress_message = "Hashing the sources of " + label,
    )
    return [
        DefaultInfo(
            files = depset([ctx.outputs.json]),
            runfiles = ctx.runfiles(files = [ctx.outputs.json]),
        ),
        OutputGroupInfo(list = depset([manifest])),
    ]

lab_closure = rule(
    implementation = _lab_closure_impl,
    doc = """NAME.json: the closure hash of the C++ target `lab` and the number of its files.

The output group `list` is the list that was hashed: "flag<tab>FLAG" and "file<tab>PATH<tab>FILE" lines.
""",
    attrs = {
        "lab": attr.label(aspects = [closure_aspect], mandatory = True),
        "_hasher": attr.label(
            default = "//tools/bazel:hash_closure.py",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
    },
    outputs = {"json": "%{name}.json"},
)

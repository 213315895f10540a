# SPDX-License-Identifier: Apache-2.0
"""A test that holds the exact profile to its word.

    exact_objects_test(name, deps)

walks every library of ours below `deps`. It fails to build where a library of the exact profile
reaches one of the fast profile, and it fails as a test where an exact object holds a fused
multiply-add or calls libm.
"""

_Profiles = provider(
    doc = "What lies below a target, by profile.",
    fields = {
        "archives": "depset of the archives compiled by the exact profile",
        "fast": "depset of labels (as strings) compiled by the fast profile",
    },
)

def _aspect_impl(target, ctx):
    deps = [dep[_Profiles] for dep in getattr(ctx.rule.attr, "deps", []) if _Profiles in dep]
    fast = depset(transitive = [dep.fast for dep in deps])
    archives = []
    tags = ctx.rule.attr.tags
    if "profile:exact" in tags:
        if fast.to_list():
            fail("%s is of the exact profile and reaches the fast code of %s" % (target.label, fast.to_list()[0]))
        for input in target[CcInfo].linking_context.linker_inputs.to_list():
            if input.owner == target.label:
                archives += [library.pic_static_library or library.static_library for library in input.libraries]
    return [_Profiles(
        archives = depset([archive for archive in archives if archive], transitive = [dep.archives for dep in deps]),
        fast = depset([str(target.label)] if "profile:fast" in tags else [], transitive = [fast]),
    )]

_profiles_aspect = aspect(implementation = _aspect_impl, attr_aspects = ["deps"])

def _test_impl(ctx):
    archives = depset(transitive = [dep[_Profiles].archives for dep in ctx.attr.deps]).to_list()
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "#!/bin/bash\nexec /usr/bin/python3 %s %s\n" % (
            ctx.file._checker.short_path,
            " ".join([archive.short_path for archive in archives]),
        ),
        is_executable = True,
    )
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = archives + [ctx.file._checker]))]

exact_objects_test = rule(
    implementation = _test_impl,
    attrs = {
        "deps": attr.label_list(aspects = [_profiles_aspect], mandatory = True),
        "_checker": attr.label(default = "//tools/bazel:check_exact_objects.py", allow_single_file = True),
    },
    test = True,
)

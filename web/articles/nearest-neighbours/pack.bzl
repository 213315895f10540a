# SPDX-License-Identifier: Apache-2.0
"""The rule that packs garments for the page."""

_FILES = ["base_images", "base_labels", "query_images", "query_labels"]

def _garment_pack_impl(ctx):
    # One attribute a file: in a list, buildifier would sort base and queries into another order.
    files = [getattr(ctx.file, name) for name in _FILES]
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = [file.path for file in files] + [ctx.outputs.out.path],
        inputs = files,
        outputs = [ctx.outputs.out],
        mnemonic = "PackGarments",
        progress_message = "Packing garments for the page",
    )

# The tool is built as everything else is ("target"): a genrule would build it, and all of Abseil below
# it, once more for the machine that builds.
garment_pack = rule(
    implementation = _garment_pack_impl,
    attrs = dict(
        {name: attr.label(allow_single_file = True, mandatory = True) for name in _FILES},
        out = attr.output(mandatory = True),
        tool = attr.label(cfg = "target", executable = True),
    ),
)

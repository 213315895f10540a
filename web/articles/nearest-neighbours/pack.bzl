# SPDX-License-Identifier: Apache-2.0
"""The rule that packs garments for the page."""

def _garment_pack_impl(ctx):
    args = [file.path for file in ctx.files.srcs] + [ctx.outputs.out.path]
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = args,
        inputs = ctx.files.srcs,
        outputs = [ctx.outputs.out],
        mnemonic = "PackGarments",
        progress_message = "Packing garments for the page",
    )

# The tool is built as everything else is ("target"): a genrule would build it, and all of Abseil below
# it, once more for the machine that builds.
garment_pack = rule(
    implementation = _garment_pack_impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "images and labels of the base, images and labels of the queries",
        ),
        "tool": attr.label(cfg = "target", executable = True),
    },
)

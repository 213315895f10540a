# SPDX-License-Identifier: Apache-2.0
"""The rule that shrinks and packs garments for the page."""

def _garment_packs_impl(ctx):
    outs = [ctx.outputs.small, ctx.outputs.large]
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = [file.path for file in ctx.files.srcs + outs],
        inputs = ctx.files.srcs,
        outputs = outs,
        mnemonic = "PackGarments",
        progress_message = "Shrinking garments for the page",
    )

# The tool is built as everything else is ("target"): a genrule would build it, and all of Abseil below
# it, once more for the machine that builds.
garment_packs = rule(
    implementation = _garment_packs_impl,
    attrs = {
        "large": attr.output(mandatory = True, doc = "all images"),
        "small": attr.output(mandatory = True, doc = "what the browser fetches"),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "test images and labels, training images and labels: the order of their names",
        ),
        "tool": attr.label(cfg = "target", executable = True),
    },
)

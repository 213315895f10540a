# SPDX-License-Identifier: Apache-2.0
"""Debian's libraries that only benchmarks compare with, where they are installed.

`tools/setup --peers` installs them. Where one is missing its library is empty and ASSAY_HAVE_<NAME>
is not defined, so that programs build everywhere and say what they lack.
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    defines = {defines},
    linkopts = {linkopts},
)
"""

def _impl(ctx):
    build = "# SPDX-License-Identifier: Apache-2.0\npackage(default_visibility = [\"//visibility:public\"])\n"
    for name, header in ctx.attr.headers.items():
        found = ctx.path("/usr/include/" + header).exists
        build += _LIBRARY.format(
            name = name,
            defines = ["ASSAY_HAVE_" + name.upper()] if found else [],
            linkopts = ctx.attr.linkopts[name] if found else [],
        )
    ctx.file("BUILD", build)

# headers: for each library a header that tells whether it is there. linkopts: what links it.
debian_optional = repository_rule(
    implementation = _impl,
    attrs = {
        "headers": attr.string_dict(mandatory = True),
        "linkopts": attr.string_list_dict(mandatory = True),
    },
    local = True,
)

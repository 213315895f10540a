// SPDX-License-Identifier: Apache-2.0
// Prints the model's predictions beside published measurements, as README.md has them.
#include <cstdio>

#include "gpu/model/published.h"

int main() { std::fputs(assay::model::PublishedTable().c_str(), stdout); }

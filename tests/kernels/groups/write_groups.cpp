// SPDX-License-Identifier: Apache-2.0
// Writes the source of every elementwise kernel that the case table needs: write_groups <file>.
#include "tests/kernels/cases/cases.h"
#include "tests/kernels/groups/group_file.h"

#include <cstdio>

using namespace weft;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "write_groups <file>\n");
        return 2;
    }
    test::GroupFile file;
    for (const test::Case& c : test::kernel_cases()) {
        file.add(*test::Description(c.call).get());
    }
    return file.write(argv[1]) ? 0 : 1;
}

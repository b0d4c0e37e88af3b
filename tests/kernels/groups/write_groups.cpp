// SPDX-License-Identifier: Apache-2.0
// Writes the source of every elementwise kernel that the case table needs into one file, for the
// host compiler: write_groups <file>.
#include "kernels/cuda/group_source.h"
#include "tests/kernels/cases/cases.h"

#include <cstdio>
#include <fstream>
#include <map>

using namespace weft;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "write_groups <file>\n");
        return 2;
    }
    std::map<std::string, kernels::cuda::GroupSource> groups;
    for (const test::Case& c : test::kernel_cases()) {
        if (test::is_elementwise(c.call.kind)) {
            test::Description description(c.call);
            const kernels::Op op(*description.get());
            kernels::cuda::GroupSource group = kernels::cuda::group_source(op);
            groups[group.name] = std::move(group);
        }
    }
    std::ofstream out(argv[1]);
    out << "// SPDX-License-Identifier: Apache-2.0\n// Written by write_groups.\n"
           "#include \"kernels/cuda/elementwise_functions.h\"\n"
           "#include \"tests/kernels/emulation/program.h\"\n\n";
    for (const auto& [name, group] : groups) {
        out << group.text << "\n";
    }
    out << "namespace weft::test {\nextern const CompiledGroup kCompiledGroups[] = {\n";
    for (const auto& [name, group] : groups) {
        const std::string words = "kernels::cuda::parts_of_" + name + "::Words";
        out << "    {\"" << name << "\",\n     [](const std::uint64_t* words) {\n         " << words
            << " w;\n         std::memcpy(&w, words, sizeof w);\n         kernels::cuda::parts_of_"
            << name << "::" << name << "(w);\n     },\n     sizeof(" << words << ") / 8},\n";
    }
    out << "    {nullptr, nullptr, 0}};\n}\n";
    return out.good() ? 0 : 1;
}

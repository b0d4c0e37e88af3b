// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/groups/group_file.h"

#include "kernels/cuda/group_source.h"
#include "tests/kernels/cases/cases.h"

#include <fstream>

namespace weft::test {

void GroupFile::add(const weft_op_desc& op) {
    if (is_elementwise(op.kind)) {
        kernels::cuda::GroupSource group = kernels::cuda::group_source(kernels::Op(op));
        texts_[group.name] = std::move(group.text);
    }
}

bool GroupFile::write(const std::string& path) const {
    std::ofstream out(path);
    out << "// SPDX-License-Identifier: Apache-2.0\n// Written by a program of "
           "tests/kernels/groups.\n"
           "#include \"kernels/cuda/elementwise_functions.h\"\n"
           "#include \"tests/kernels/emulation/program.h\"\n\n";
    for (const auto& [name, text] : texts_) {
        out << text << "\n";
    }
    out << "namespace weft::test {\nextern const CompiledGroup kCompiledGroups[] = {\n";
    for (const auto& [name, text] : texts_) {
        const std::string words = "kernels::cuda::parts_of_" + name + "::Words";
        out << "    {\"" << name << "\",\n     [](const std::uint64_t* words) {\n         " << words
            << " w;\n         std::memcpy(&w, words, sizeof w);\n         kernels::cuda::parts_of_"
            << name << "::" << name << "(w);\n     },\n     sizeof(" << words << ") / 8},\n";
    }
    out << "    {nullptr, nullptr, 0}};\n}\n";
    return out.good();
}

} // namespace weft::test

// SPDX-License-Identifier: Apache-2.0
// The sources of elementwise kernels in one file, for the host compiler.
#pragma once

#include "kernels/weft_kernels.h"

#include <map>
#include <string>

namespace weft::test {

class GroupFile {
public:
    /// Takes the kernel of an elementwise op or group; other ops need none.
    void add(const weft_op_desc& op);
    /// False when it was not written.
    bool write(const std::string& path) const;

private:
    std::map<std::string, std::string> texts_; // by the name of the kernel
};

} // namespace weft::test

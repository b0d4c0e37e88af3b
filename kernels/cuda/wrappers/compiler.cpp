// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/compiler.h"

#include "kernels/cuda/dialect_text.h"

#include <nvrtc.h>

#include <iterator>

namespace weft::kernels::cuda {
namespace {

const char* const kHeaders[] = {kDialectText, kDialectCudaText, kElementwiseFunctionsText};
const char* const kHeaderNames[] = {"kernels/cuda/dialect.h", "kernels/cuda/dialect_cuda.h",
                                    "kernels/cuda/elementwise_functions.h"};
// A product and a sum of two steps stay two: so a group gives the bits of its single ops.
const char* const kOptions[] = {"--std=c++20", "--fmad=false", "--ftz=true", "--ptxas-options=-v"};

void check_nvrtc(nvrtcResult result, const char* what) {
    if (result != NVRTC_SUCCESS) {
        throw Failure{WEFT_LIBRARY_ERROR, std::string(what) + ": " + nvrtcGetErrorString(result)};
    }
}

class Compilation {
public:
    explicit Compilation(const std::string& source) {
        check_nvrtc(nvrtcCreateProgram(&program_, source.c_str(), "group.cu",
                                       static_cast<int>(std::size(kHeaders)), kHeaders,
                                       kHeaderNames),
                    "reading a generated kernel");
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;
    ~Compilation() { nvrtcDestroyProgram(&program_); }

    MachineCode compiled(const std::string& capability) {
        const std::string architecture = "--gpu-architecture=sm_" + capability;
        std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
        options.push_back(architecture.c_str());
        const nvrtcResult result =
            nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
        MachineCode made{{}, log()};
        if (result != NVRTC_SUCCESS) {
            throw Failure{WEFT_LIBRARY_ERROR, "compiling a generated kernel: " + made.report};
        }
        std::size_t size = 0;
        check_nvrtc(nvrtcGetCUBINSize(program_, &size), "the size of a generated kernel");
        made.code.resize(size);
        check_nvrtc(nvrtcGetCUBIN(program_, made.code.data()), "the code of a generated kernel");
        return made;
    }

private:
    std::string log() const {
        std::size_t size = 0;
        check_nvrtc(nvrtcGetProgramLogSize(program_, &size), "the report of a generated kernel");
        std::vector<char> text(size + 1);
        check_nvrtc(nvrtcGetProgramLog(program_, text.data()), "the report of a generated kernel");
        return text.data(); // it ends with a zero
    }

    nvrtcProgram program_ = nullptr;
};

} // namespace

MachineCode machine_code(const std::string& text, const std::string& capability) {
    return Compilation("#include \"kernels/cuda/elementwise_functions.h\"\n" + text)
        .compiled(capability);
}

std::string compiler_identity() {
    int major = 0;
    int minor = 0;
    check_nvrtc(nvrtcVersion(&major, &minor), "the version of NVRTC");
    std::string identity = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
    for (const char* option : kOptions) {
        identity += std::string(" ") + option;
    }
    for (const char* header : kHeaders) {
        identity += std::string("\n") + header;
    }
    return identity;
}

} // namespace weft::kernels::cuda

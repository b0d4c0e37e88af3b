// SPDX-License-Identifier: Apache-2.0
// Generated kernels by NVRTC, for the architecture of the calling thread's device.
#include "kernels/cuda/wrappers/program.h"

#include "kernels/cuda/dialect_text.h"
#include "kernels/cuda/wrappers/stream.h"

#include <nvrtc.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::kernels::cuda {
namespace {

void check_nvrtc(nvrtcResult result, const char* what) {
    if (result != NVRTC_SUCCESS) {
        throw Failure{WEFT_LIBRARY_ERROR, std::string(what) + ": " + nvrtcGetErrorString(result)};
    }
}

/// The machine code of `text` for a compute capability, "90".
std::vector<char> machine_code(const std::string& text, const std::string& capability) {
    const char* headers[] = {kDialectText, kDialectCudaText, kElementwiseFunctionsText};
    const char* names[] = {"kernels/cuda/dialect.h", "kernels/cuda/dialect_cuda.h",
                           "kernels/cuda/elementwise_functions.h"};
    const std::string source = "#include \"kernels/cuda/elementwise_functions.h\"\n" + text;
    nvrtcProgram program = nullptr;
    check_nvrtc(nvrtcCreateProgram(&program, source.c_str(), "group.cu", 3, headers, names),
                "reading a generated kernel");
    const std::string architecture = "--gpu-architecture=sm_" + capability;
    // A product and a sum of two steps stay two: so a group gives the bits of its single ops.
    const char* options[] = {architecture.c_str(), "--std=c++20", "--fmad=false", "--ftz=true"};
    const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
    std::vector<char> code;
    std::size_t size = 0;
    if (result == NVRTC_SUCCESS) {
        check_nvrtc(nvrtcGetCUBINSize(program, &size), "the size of a generated kernel");
        code.resize(size);
        check_nvrtc(nvrtcGetCUBIN(program, code.data()), "the code of a generated kernel");
    } else if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS) {
        std::string log(size, '\0');
        nvrtcGetProgramLog(program, log.data());
        nvrtcDestroyProgram(&program);
        throw Failure{WEFT_LIBRARY_ERROR, "compiling a generated kernel: " + log};
    }
    nvrtcDestroyProgram(&program);
    check_nvrtc(result, "compiling a generated kernel");
    return code;
}

/// An entry point that is loaded; CUDA keeps it for every device of the process.
class LoadedProgram final : public Program {
public:
    LoadedProgram(const std::string& name, std::vector<char> code) : code_(std::move(code)) {
        check(
            cudaLibraryLoadData(&library_, code_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "loading a generated kernel");
        check(cudaLibraryGetKernel(&kernel_, library_, name.c_str()), "finding a generated kernel");
    }
    ~LoadedProgram() override { cudaLibraryUnload(library_); }

    void launch(weft_stream* stream, const Grid& grid,
                std::span<const std::uint64_t> words) const override {
        void* arguments[] = {const_cast<std::uint64_t*>(words.data())};
        start_on_device(stream, grid, reinterpret_cast<const void*>(kernel_), arguments);
    }

private:
    std::vector<char> code_;
    cudaLibrary_t library_ = nullptr;
    cudaKernel_t kernel_ = nullptr;
};

/// "90" of the calling thread's device.
std::string compute_capability() {
    int device = 0;
    int major = 0;
    int minor = 0;
    check(cudaGetDevice(&device), "the present GPU");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
          "the GPU's kind");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
          "the GPU's kind");
    return std::to_string(major * 10 + minor);
}

} // namespace

const Program& compiled_program(const std::string& name, const std::string& text) {
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<LoadedProgram>> programs;
    const std::lock_guard lock(mutex);
    const std::string capability = compute_capability();
    std::unique_ptr<LoadedProgram>& program = programs[name + " " + capability];
    if (program == nullptr) {
        program = std::make_unique<LoadedProgram>(name, machine_code(text, capability));
    }
    return *program;
}

} // namespace weft::kernels::cuda

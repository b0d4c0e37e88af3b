// SPDX-License-Identifier: Apache-2.0
// Generated kernels for the architecture of the calling thread's device, as they were kept or as
// NVRTC makes them.
#include "kernels/cuda/wrappers/program.h"

#include "kernels/cuda/code_store.h"
#include "kernels/cuda/wrappers/compiler.h"
#include "kernels/cuda/wrappers/stream.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::kernels::cuda {
namespace {

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
        const std::string key = "sm_" + capability + "\n" + text + "\n" + compiler_identity();
        program = std::make_unique<LoadedProgram>(
            name, stored_code(key, [&] { return machine_code(text, capability).code; }));
    }
    return *program;
}

} // namespace weft::kernels::cuda

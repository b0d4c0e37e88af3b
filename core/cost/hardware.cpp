// SPDX-License-Identifier: Apache-2.0
#include "core/cost/hardware.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace weft::cost {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr std::int64_t kMostDevices = 1 << 20;

// One message of a ring: NCCL's own model of GPUs (src/graph/tuning.cc, hardware latencies, simple
// protocol), and a hop between neighbouring TPU chips, taken as a microsecond.
constexpr double kNvlinkLatency = 3.4e-6;
constexpr double kPcieLatency = 5.7e-6;
constexpr double kIciLatency = 1e-6;

// Data sheets of NVIDIA give tensor rates with sparsity: dense is half. NVLink is given for both
// directions together: one is half. TPUs have no f32 units for products: six bf16 passes make one
// of full precision (lax.Precision.HIGHEST of JAX), so that f32 is bf16 / 6.
constexpr Hardware kCatalogue[] = {
    {.name = "a100-40",
     .title = "NVIDIA A100 SXM 40 GB",
     .kind = "cuda",
     .memory_bytes = 40 * kGB,
     .f32_flops = 19.5 * kTera,
     .tf32_flops = 156 * kTera,
     .bf16_flops = 312 * kTera,
     .memory_bandwidth = 1555 * kGiga,
     .link_bandwidth = 300 * kGiga,
     .link_latency_s = kNvlinkLatency,
     .host_devices = 8,
     .network_bandwidth = 25 * kGiga,
     .source = "NVIDIA A100 Tensor Core GPU data sheet, specifications, SXM 40 GB; NVLink 600 GB/s",
     .link_source = "NVIDIA DGX A100 data sheet: 8 GPUs, 8 network ports of 200 Gbit/s for them"},
    {.name = "a100",
     .title = "NVIDIA A100 SXM 80 GB",
     .kind = "cuda",
     .memory_bytes = 80 * kGB,
     .f32_flops = 19.5 * kTera,
     .tf32_flops = 156 * kTera,
     .bf16_flops = 312 * kTera,
     .memory_bandwidth = 2039 * kGiga,
     .link_bandwidth = 300 * kGiga,
     .link_latency_s = kNvlinkLatency,
     .host_devices = 8,
     .network_bandwidth = 25 * kGiga,
     .source = "NVIDIA A100 Tensor Core GPU data sheet, specifications, SXM 80 GB; NVLink 600 GB/s",
     .link_source = "NVIDIA DGX A100 data sheet: 8 GPUs, 8 network ports of 200 Gbit/s for them"},
    {.name = "h100",
     .title = "NVIDIA H100 SXM",
     .kind = "cuda",
     .memory_bytes = 80 * kGB,
     .f32_flops = 67 * kTera,
     .tf32_flops = 494.5 * kTera,
     .bf16_flops = 989.5 * kTera,
     .fp8_flops = 1979 * kTera,
     .memory_bandwidth = 3350 * kGiga,
     .link_bandwidth = 450 * kGiga,
     .link_latency_s = kNvlinkLatency,
     .host_devices = 8,
     .network_bandwidth = 50 * kGiga,
     .source = "NVIDIA H100 Tensor Core GPU data sheet, technical specifications, H100 SXM (989, "
               "1,979 and 3,958 TFLOPS with sparsity); NVLink 900 GB/s",
     .link_source = "NVIDIA DGX H100 data sheet: 8 GPUs, 8 network ports of 400 Gbit/s for them"},
    {.name = "h200",
     .title = "NVIDIA H200 SXM",
     .kind = "cuda",
     .memory_bytes = 141 * kGB,
     .f32_flops = 67 * kTera,
     .tf32_flops = 494.5 * kTera,
     .bf16_flops = 989.5 * kTera,
     .fp8_flops = 1979 * kTera,
     .memory_bandwidth = 4800 * kGiga,
     .link_bandwidth = 450 * kGiga,
     .link_latency_s = kNvlinkLatency,
     .host_devices = 8,
     .network_bandwidth = 50 * kGiga,
     .source = "NVIDIA H200 Tensor Core GPU data sheet, technical specifications, H200 SXM (989, "
               "1,979 and 3,958 TFLOPS with sparsity); NVLink 900 GB/s",
     .link_source = "NVIDIA DGX H200 data sheet: 8 GPUs, 8 network ports of 400 Gbit/s for them"},
    {.name = "b200",
     .title = "NVIDIA B200 SXM",
     .kind = "cuda",
     .memory_bytes = 180 * kGB,
     .f32_flops = 75 * kTera,
     .tf32_flops = 1125 * kTera,
     .bf16_flops = 2250 * kTera,
     .fp8_flops = 4500 * kTera,
     .memory_bandwidth = 8000 * kGiga,
     .link_bandwidth = 900 * kGiga,
     .link_latency_s = kNvlinkLatency,
     .host_devices = 8,
     .network_bandwidth = 50 * kGiga,
     .source =
         "NVIDIA DGX B200 and HGX B200 data sheets, specifications, an eighth of each: 36 PFLOPS "
         "bf16, 18 tf32 and 72 fp8 with sparsity, 600 TFLOPS f32, 1,440 GB, 64 TB/s; NVLink 1.8 "
         "TB/s "
         "per GPU",
     .link_source = "NVIDIA DGX B200 data sheet: 8 GPUs, 8 network ports of 400 Gbit/s for them"},
    {.name = "l40s",
     .title = "NVIDIA L40S",
     .kind = "cuda",
     .memory_bytes = 48 * kGB,
     .f32_flops = 91.6 * kTera,
     .tf32_flops = 183 * kTera,
     .bf16_flops = 362 * kTera,
     .fp8_flops = 733 * kTera,
     .memory_bandwidth = 864 * kGiga,
     .link_bandwidth = 32 * kGiga,
     .link_latency_s = kPcieLatency,
     .host_devices = 8,
     .network_bandwidth = 12.5 * kGiga,
     .source = "NVIDIA L40S data sheet, specifications (183, 362.05 and 733 TFLOPS without "
               "sparsity); PCIe "
               "4.0 x16, 64 GB/s both ways",
     .link_source = "assumed: 8 in a host, 100 Gbit/s of Ethernet for each"},
    {.name = "rtx4090",
     .title = "NVIDIA GeForce RTX 4090",
     .kind = "cuda",
     .memory_bytes = 24 * kGB,
     .f32_flops = 82.6 * kTera,
     .tf32_flops = 82.6 * kTera,
     .bf16_flops = 165.2 * kTera,
     .fp8_flops = 330.3 * kTera,
     .memory_bandwidth = 1008 * kGiga,
     .link_bandwidth = 32 * kGiga,
     .link_latency_s = kPcieLatency,
     .host_devices = 4,
     .network_bandwidth = 1.25 * kGiga,
     .source = "NVIDIA Ada GPU Architecture white paper, appendix A, GeForce RTX 4090 (bf16 and "
               "fp8 with f32 "
               "accumulation, without sparsity); PCIe 4.0 x16, 64 GB/s both ways",
     .link_source = "assumed: 4 in a host, 10 Gbit/s of Ethernet for each"},
    {.name = "tpu-v4",
     .title = "Google TPU v4",
     .kind = "tpu",
     .memory_bytes = 32 * kGiB,
     .f32_flops = 275.0 / 6 * kTera,
     .tf32_flops = 0,
     .bf16_flops = 275 * kTera,
     .memory_bandwidth = 1200 * kGiga,
     .link_bandwidth = 300 * kGiga,
     .link_latency_s = kIciLatency,
     .host_devices = 4096,
     .network_bandwidth = 6.25 * kGiga,
     .source =
         "Google Cloud TPU documentation, TPU v4, key specifications (32 GiB, 1,200 GB/s; links "
         "2,400 Gbit/s per chip); f32 derived: bf16 / 6",
     .link_source = "Google Cloud TPU documentation: 4,096 chips in a pod; network between "
                    "pods assumed as 50 Gbit/s for each chip"},
    {.name = "tpu-v5e",
     .title = "Google TPU v5e",
     .kind = "tpu",
     .memory_bytes = 16 * kGB,
     .f32_flops = 197.0 / 6 * kTera,
     .tf32_flops = 0,
     .bf16_flops = 197 * kTera,
     .memory_bandwidth = 819 * kGiga,
     .link_bandwidth = 200 * kGiga,
     .link_latency_s = kIciLatency,
     .host_devices = 256,
     .network_bandwidth = 3.125 * kGiga,
     .source =
         "Google Cloud TPU documentation, TPU v5e, key specifications (16 GB, 819 GB/s; links "
         "400 GB/s both ways per chip); f32 derived: bf16 / 6",
     .link_source = "Google Cloud TPU documentation: 256 chips in a pod; network between "
                    "pods assumed as 25 Gbit/s for each chip"},
    {.name = "tpu-v5p",
     .title = "Google TPU v5p",
     .kind = "tpu",
     .memory_bytes = 95 * kGB,
     .f32_flops = 459.0 / 6 * kTera,
     .tf32_flops = 0,
     .bf16_flops = 459 * kTera,
     .memory_bandwidth = 2765 * kGiga,
     .link_bandwidth = 600 * kGiga,
     .link_latency_s = kIciLatency,
     .host_devices = 8960,
     .network_bandwidth = 6.25 * kGiga,
     .source =
         "Google Cloud TPU documentation, TPU v5p, key specifications (95 GB, 2,765 GB/s; links "
         "4,800 Gbit/s per chip); f32 derived: bf16 / 6",
     .link_source = "Google Cloud TPU documentation: 8,960 chips in a pod; network between "
                    "pods assumed as 50 Gbit/s for each chip"},
};

std::string lower_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const Hardware& hardware : kCatalogue) {
        out.emplace_back(hardware.name);
    }
    return out;
}

} // namespace

std::span<const Hardware> hardware_catalogue() {
    return kCatalogue;
}

const Hardware* find_hardware(std::string_view name) {
    const std::string wanted = lower_case(name);
    const auto found =
        std::find_if(std::begin(kCatalogue), std::end(kCatalogue),
                     [&](const Hardware& hardware) { return hardware.name == wanted; });
    return found == std::end(kCatalogue) ? nullptr : found;
}

HardwareCount parse_hardware(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    HardwareCount out;
    out.hardware = find_hardware(name);
    if (out.hardware == nullptr) {
        throw Error(ErrorKind::usage, "hardware '" + shown(text) + "'",
                    "there is no hardware called '" + shown(name) + "' in the catalogue",
                    name_hint(name, names()));
    }
    if (colon != std::string_view::npos) {
        const std::string_view digits = text.substr(colon + 1);
        const char* end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, out.count);
        if (read.ec != std::errc() || read.ptr != end || out.count < 1 ||
            out.count > kMostDevices) {
            throw Error(ErrorKind::usage, "hardware '" + shown(text) + "'",
                        "'" + shown(digits) + "' is no number of devices from 1 to " +
                            format_thousands(kMostDevices),
                        "write it as " + std::string(out.hardware->name) + ":8");
        }
    }
    return out;
}

} // namespace weft::cost

// SPDX-License-Identifier: Apache-2.0
// Published limits of hardware that need not be here: what `--hardware h200:8` plans for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::cost {

/// One device. Rates are dense (without structured sparsity), per second. Vendors count memory in
/// GB = 10^9 bytes in their data sheets; what the driver reports beyond that pays for its context.
struct Hardware {
    std::string_view name;  // "h200": what the user types
    std::string_view title; // "NVIDIA H200 SXM"
    std::string_view kind;  // "cuda" or "tpu"
    std::int64_t memory_bytes = 0;
    double f32_flops = 0;          // true f32 products
    double tf32_flops = 0;         // f32 operands rounded to 10 bits in the matrix units; 0: none
    double bf16_flops = 0;         // matrix units, f32 accumulation
    double fp8_flops = 0;          // 8-bit numbers, f32 accumulation; 0: none
    double memory_bandwidth = 0;   // bytes/s
    double link_bandwidth = 0;     // bytes/s per direction, all links to neighbours together
    double link_latency_s = 0;     // of one message over a link
    std::int64_t host_devices = 1; // joined by such links: a host of GPUs, a pod of TPUs
    double network_bandwidth = 0;  // bytes/s per direction and device between hosts
    std::string_view source;       // where the figures stand, and which of them are derived
    std::string_view link_source;  // the same of links and network

    /// GPUs multiply f16 at the rate of bf16; 0: no such units.
    double f16_flops() const { return kind == "cuda" ? bf16_flops : 0; }
};

/// Every entry, in the order in which the studio lists them.
std::span<const Hardware> hardware_catalogue();
/// Null when there is none of that name; case does not matter.
const Hardware* find_hardware(std::string_view name);

/// "h200:8": a catalogue entry and how many of them.
struct HardwareCount {
    const Hardware* hardware = nullptr;
    std::int64_t count = 1;
};
/// "h200" or "h200:8". Throws weft::Error{usage} naming the nearest known hardware, or what is
/// wrong with the count (1 to 1,048,576).
HardwareCount parse_hardware(std::string_view text);

} // namespace weft::cost

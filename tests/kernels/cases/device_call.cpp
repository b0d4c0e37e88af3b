// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/device_call.h"

#include "kernels/op.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace weft::test {
namespace {

constexpr std::size_t kUnit = 256; // addresses are multiples of it; guards are at least so wide
constexpr unsigned char kGuardOfArena = 0xA5;

std::size_t byte_count(const weft_tensor_type& type) {
    return static_cast<std::size_t>(kernels::element_count(type) * kernels::dtype_size(type.dtype));
}

/// An arena as the host holds it: operands between guards.
struct ArenaImage {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(kUnit, kGuardOfArena);
    struct Place {
        std::size_t at, size;
    };
    std::vector<Place> places;

    void add(std::size_t size, const void* content) { // null: 0xff, NaN in every float type
        places.push_back({bytes.size(), size});
        const std::size_t end = bytes.size() + (size + kUnit - 1) / kUnit * kUnit + kUnit;
        bytes.resize(end, kGuardOfArena);
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(places.back().at);
        if (content == nullptr) {
            std::fill_n(begin, size, static_cast<unsigned char>(0xff));
        } else {
            std::memcpy(bytes.data() + places.back().at, content, size);
        }
    }

    bool guards_intact() const {
        std::size_t at = 0;
        for (const Place& place : places) {
            for (; at < place.at; ++at) {
                if (bytes[at] != kGuardOfArena) {
                    return false;
                }
            }
            at = place.at + place.size;
        }
        return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(),
                           [](unsigned char byte) { return byte == kGuardOfArena; });
    }
};

} // namespace

DeviceForCalls::DeviceForCalls(const weft_platform& platform, int index) : platform_(platform) {
    if (platform_.open(index, &device_) != WEFT_OK || platform_.enter(device_) != WEFT_OK ||
        platform_.make_stream(device_, &stream_) != WEFT_OK) {
        throw std::runtime_error(platform_.last_error());
    }
}

DeviceForCalls::~DeviceForCalls() {
    platform_.drop_stream(stream_);
    platform_.close(device_);
}

Result DeviceForCalls::run(const weft_backend& backend, const Call& call) {
    Result result;
    Description description(call);
    weft_query query{};
    weft_kernel* kernel = nullptr;
    result.status = backend.query(description.get(), &query);
    if (result.status == WEFT_OK) {
        result.kernel = query.kernel_name;
        result.status = backend.prepare(description.get(), &kernel);
    }
    if (result.status == WEFT_OK) {
        result.status = run_kernel(backend, kernel, call, query.workspace_bytes, result);
        backend.release(kernel);
    }
    if (result.status != WEFT_OK) {
        result.error = result.error.empty() ? backend.last_error() : result.error;
        result.outputs.clear();
    }
    return result;
}

weft_status DeviceForCalls::run_kernel(const weft_backend& backend, weft_kernel* kernel,
                                       const Call& call, std::int64_t workspace_bytes,
                                       Result& result) {
    ArenaImage image;
    for (const Tensor& input : call.inputs) {
        image.add(byte_count(input.type()), input.data());
    }
    for (const weft_tensor_type& output : call.outputs) {
        image.add(byte_count(output), nullptr);
    }
    image.add(static_cast<std::size_t>(workspace_bytes), nullptr);
    const auto size = static_cast<std::int64_t>(image.bytes.size());
    void* arena = nullptr;
    weft_status status = platform_.reserve(device_, size, &arena);
    if (status != WEFT_OK) {
        result.error = platform_.last_error();
        return status;
    }
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (std::size_t i = 0; i < image.places.size(); ++i) {
        void* const address = static_cast<unsigned char*>(arena) + image.places[i].at;
        if (i < call.inputs.size()) {
            inputs.push_back(address);
        } else {
            outputs.push_back(address); // the last is the workspace
        }
    }
    const weft_run_args args{inputs.data(), outputs.data(), outputs.back(), stream_};
    status = platform_.take(device_, arena, 0, size);
    const auto then = [&](const auto& step) { status = status == WEFT_OK ? step() : status; };
    then([&] { return platform_.upload(stream_, arena, image.bytes.data(), size); });
    then([&] { return backend.run(kernel, &args); });
    then([&] { return platform_.download(stream_, image.bytes.data(), arena, size); });
    then([&] { return platform_.finish(stream_); });
    if (status != WEFT_OK) {
        result.error = platform_.last_error();
    }
    platform_.give_back(device_, arena, size);
    result.guards_intact = image.guards_intact();
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        Tensor& out = result.outputs.emplace_back(call.outputs[i]);
        const ArenaImage::Place& place = image.places[call.inputs.size() + i];
        std::memcpy(out.data(), image.bytes.data() + place.at, place.size);
    }
    return status;
}

} // namespace weft::test

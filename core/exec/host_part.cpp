// SPDX-License-Identifier: Apache-2.0
#include "core/exec/host_part.h"

#include "core/exec/open_device.h"

#include <utility>

namespace weft::exec {

HostPart::HostPart(OpenDevice& device, std::int64_t offset, std::int64_t bytes, Use use)
    : offset_(offset) {
    if (device.on_host()) {
        bytes_ = {device.data() + offset, static_cast<std::size_t>(bytes)};
        return;
    }
    device.enter();
    bytes_ = device.staging(bytes);
    copied_for_ = &device;
    if (use == Use::look) {
        device.download(bytes_, offset);
    }
}

HostPart::HostPart(std::vector<std::byte> copy,
                   std::function<void(std::span<const std::byte>)> store)
    : copy_(std::move(copy)), store_(std::move(store)), bytes_(copy_) {}

HostPart::~HostPart() {
    if (copied_for_ != nullptr) {
        copied_for_->recycle(bytes_);
    }
}

HostPart::HostPart(HostPart&& other) noexcept
    : copied_for_(std::exchange(other.copied_for_, nullptr)), copy_(std::move(other.copy_)),
      store_(std::move(other.store_)), offset_(other.offset_), bytes_(other.bytes_) {}

void HostPart::store() {
    if (copied_for_ != nullptr) {
        copied_for_->upload(offset_, bytes_);
    }
    if (store_) {
        store_(bytes_);
    }
}

} // namespace weft::exec

// SPDX-License-Identifier: Apache-2.0
// A device's part of an array where the host reaches it: in the arena itself, or a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft::exec {

class OpenDevice;

/// Dense, row-major. A part that is looked at holds what the device has; one that is filled is the
/// host's to write, all of it, and reaches the device by `store`. Belongs to the thread that uses
/// the device, and goes before it.
class HostPart {
public:
    enum class Use : std::uint8_t { look, fill };

    /// Bytes [offset, offset + bytes) of the device's arena. Throws weft::Error{device, memory}.
    HostPart(OpenDevice& device, std::int64_t offset, std::int64_t bytes, Use use);
    /// The host's own memory, from which somebody else takes the part to the device.
    explicit HostPart(std::span<std::byte> bytes) : bytes_(bytes) {}
    /// A copy of what a device of another process has, or has to be filled for it: `store` takes it
    /// there; null: nobody does.
    HostPart(std::vector<std::byte> copy, std::function<void(std::span<const std::byte>)> store);
    ~HostPart();
    HostPart(HostPart&& other) noexcept;
    HostPart& operator=(HostPart&&) = delete;

    std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }
    operator std::span<std::byte>() const { return bytes_; }       // NOLINT: it is those bytes
    operator std::span<const std::byte>() const { return bytes_; } // NOLINT

    void store();

private:
    OpenDevice* copied_for_ = nullptr; // null: the bytes are the arena's, or of another process
    std::vector<std::byte> copy_;
    std::function<void(std::span<const std::byte>)> store_;
    std::int64_t offset_ = 0;
    std::span<std::byte> bytes_;
};

} // namespace weft::exec

// SPDX-License-Identifier: Apache-2.0
// Results of a run that the host looks at later: devices that work by themselves copy them behind
// the run, and go on with the next one meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::exec {

class OpenDevice;

/// Belongs to the thread that uses the executor, and goes before it. Throws weft::Error{device}.
class Handover {
public:
    Handover() = default;
    ~Handover();
    Handover(Handover&& other) noexcept = default;
    Handover& operator=(Handover&& other) noexcept;

    /// Bytes [offset, offset + bytes) of the device's arena are wanted, too.
    void want(OpenDevice& device, std::int64_t offset, std::int64_t bytes);
    /// What is there already, of a device of another process.
    void want(std::vector<std::byte> there);
    /// Queues the copies of all that is wanted.
    void send();
    /// Until they are there.
    void wait();
    /// What was wanted, in that order; after wait.
    std::span<const std::byte> operator[](std::size_t i) const;

private:
    struct Sender {
        OpenDevice* device = nullptr;
        std::int64_t bytes = 0;
        std::span<std::byte> staged; // once it is sent
    };
    struct Piece {
        std::size_t sender = 0;
        std::int64_t offset = 0;
        std::int64_t bytes = 0;
        std::int64_t place = 0; // in what is staged
        std::vector<std::byte> there{}; // no sender has it
    };
    void recycle();

    std::vector<Sender> senders_;
    std::vector<Piece> pieces_;
};

} // namespace weft::exec

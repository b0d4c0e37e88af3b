// SPDX-License-Identifier: Apache-2.0
#include "core/exec/handover.h"

#include "core/exec/open_device.h"

#include <algorithm>
#include <utility>

namespace weft::exec {
namespace {

constexpr auto kNoSender = static_cast<std::size_t>(-1);

} // namespace

Handover::~Handover() {
    recycle();
}

Handover& Handover::operator=(Handover&& other) noexcept {
    std::swap(senders_, other.senders_);
    std::swap(pieces_, other.pieces_);
    return *this;
}

void Handover::recycle() {
    for (const Sender& sender : senders_) {
        if (sender.staged.data() != nullptr) {
            sender.device->recycle(sender.staged);
        }
    }
}

void Handover::want(OpenDevice& device, std::int64_t offset, std::int64_t bytes) {
    constexpr std::int64_t kAlignment = 8; // of any number
    auto sender = std::find_if(senders_.begin(), senders_.end(),
                               [&](const Sender& one) { return one.device == &device; });
    if (sender == senders_.end()) {
        sender = senders_.insert(sender, Sender{&device, 0, {}});
    }
    pieces_.push_back(
        {static_cast<std::size_t>(sender - senders_.begin()), offset, bytes, sender->bytes});
    sender->bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void Handover::want(std::vector<std::byte> there) {
    pieces_.push_back({kNoSender, 0, 0, 0, std::move(there)});
}

void Handover::send() {
    for (std::size_t i = 0; i < senders_.size(); ++i) {
        Sender& sender = senders_[i];
        sender.device->enter();
        sender.staged = sender.device->staging(sender.bytes);
        for (const Piece& piece : pieces_) {
            if (piece.sender == i) {
                sender.device->queue_download(
                    sender.staged.subspan(static_cast<std::size_t>(piece.place),
                                          static_cast<std::size_t>(piece.bytes)),
                    piece.offset);
            }
        }
        sender.device->mark(sender.staged);
    }
}

void Handover::wait() {
    for (const Sender& sender : senders_) {
        sender.device->enter();
        sender.device->await(sender.staged);
    }
}

std::span<const std::byte> Handover::operator[](std::size_t i) const {
    const Piece& piece = pieces_[i];
    if (piece.sender == kNoSender) {
        return piece.there;
    }
    return senders_[piece.sender].staged.subspan(static_cast<std::size_t>(piece.place),
                                                 static_cast<std::size_t>(piece.bytes));
}

} // namespace weft::exec

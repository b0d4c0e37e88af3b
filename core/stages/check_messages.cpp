// SPDX-License-Identifier: Apache-2.0
#include "core/stages/check_messages.h"

#include "core/base/check.h"

namespace weft::stages {
namespace {

struct Post {
    std::string cause;
    ir::Type type;
};

struct Channel {
    std::vector<Post> posts;
    std::size_t received = 0;
    std::size_t waited = 0;
};

class Player {
public:
    explicit Player(const std::vector<ir::Program>& stages)
        : stages_(stages), next_(stages.size(), 0), channels_(stages.size() * stages.size()) {}

    void run() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
                const auto& ops = stages_[stage].body.ops;
                while (next_[stage] < ops.size() && step(stage, ops[next_[stage]])) {
                    ++next_[stage];
                    moved = true;
                }
            }
        }
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            const auto& ops = stages_[stage].body.ops;
            WEFT_CHECK(next_[stage] == ops.size(), "stage " + std::to_string(stage) +
                                                       " waits for ever at " +
                                                       ops[next_[stage]].kind + " of " +
                                                       ops[next_[stage]].attributes.text("cause"));
        }
        for (const Channel& channel : channels_) {
            WEFT_CHECK(channel.received == channel.posts.size() &&
                           channel.waited == channel.posts.size(),
                       "every message is received and waited for");
        }
    }

private:
    /// False when the op has to wait.
    bool step(std::size_t stage, const ir::Op& op) {
        const auto peer = [&] { return static_cast<std::size_t>(op.attributes.integer("peer")); };
        if (op.kind == "send") {
            channels_[stage * stages_.size() + peer()].posts.push_back(
                {op.attributes.text("cause"), stages_[stage].type(op.inputs[0])});
        } else if (op.kind == "sent") {
            Channel& channel = channels_[stage * stages_.size() + peer()];
            if (channel.received <= channel.waited) {
                return false;
            }
            ++channel.waited;
        } else if (op.kind == "receive") {
            Channel& channel = channels_[peer() * stages_.size() + stage];
            if (channel.received == channel.posts.size()) {
                return false;
            }
            const Post& post = channel.posts[channel.received++];
            WEFT_CHECK(post.cause == op.attributes.text("cause") &&
                           post.type == stages_[stage].type(op.outputs[0]),
                       "a stage receives what was sent");
        }
        return true;
    }

    const std::vector<ir::Program>& stages_;
    std::vector<std::size_t> next_;
    std::vector<Channel> channels_; // [from * stages + to]
};

} // namespace

void check_messages(const std::vector<ir::Program>& stages) {
    Player(stages).run();
}

} // namespace weft::stages

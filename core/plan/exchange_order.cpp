// SPDX-License-Identifier: Apache-2.0
#include "core/plan/exchange_order.h"

#include "core/base/text.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <vector>

namespace weft::plan {
namespace {

/// What a stage does with others.
struct Call {
    enum class Kind : std::uint8_t { send, sent, receive, meeting };
    Kind kind = Kind::meeting;
    std::size_t peer = 0;       // of a message
    const Step* step = nullptr; // of a meeting: all stages come to the same
};

Call::Kind kind_of(const ir::Op& op) {
    return op.kind == "send"      ? Call::Kind::send
           : op.kind == "sent"    ? Call::Kind::sent
           : op.kind == "receive" ? Call::Kind::receive
                                  : Call::Kind::meeting;
}

void append(const std::vector<Step>& steps, const std::string& axis, std::vector<Call>& out) {
    for (const Step& step : steps) {
        if (step.is_loop()) {
            for (std::int64_t i = 0; i < step.count; ++i) {
                append(step.steps, axis, out);
            }
            continue;
        }
        const ops::OpDef* def = ops::find_op(step.op.kind);
        if (def == nullptr || !def->collective) {
            continue;
        }
        const std::vector<std::string> axes = split(step.op.attributes.text("axes"), ',');
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
            out.push_back({kind_of(step.op),
                           static_cast<std::size_t>(step.op.attributes.integer("peer", 0)), &step});
        }
    }
}

bool same_meeting(const Step& a, const Step& b) {
    return a.op.kind == b.op.kind && a.op.attributes.text("axes") == b.op.attributes.text("axes");
}

class Play {
public:
    Play(std::span<const PlannedProgram> stages, const std::string& axis)
        : stages_(stages.size()), channels_(stages.size() * stages.size()) {
        for (std::size_t i = 0; i < stages.size(); ++i) {
            append(stages[i].steps, axis, stages_[i].calls);
        }
    }

    std::string run() {
        for (bool moved = true; moved;) {
            moved = meet();
            for (std::size_t i = 0; i < stages_.size(); ++i) {
                while (!stages_[i].is_done() && goes_on(i)) {
                    ++stages_[i].next;
                    moved = true;
                }
            }
        }
        std::string out;
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            if (!stages_[i].is_done()) {
                out += (out.empty() ? "" : "; ") + waits(i);
            }
        }
        return out;
    }

private:
    struct Stage {
        std::vector<Call> calls;
        std::size_t next = 0;
        bool is_done() const { return next == calls.size(); }
        const Call& call() const { return calls[next]; }
    };
    struct Channel { // messages
        int posted = 0;
        int taken = 0;
        int freed = 0;
    };

    Channel& channel(std::size_t source, std::size_t destination) {
        return channels_[source * stages_.size() + destination];
    }

    /// Whether the next call of a stage ends now; a meeting does not end for one alone.
    bool goes_on(std::size_t stage) {
        const Call& call = stages_[stage].call();
        switch (call.kind) {
        case Call::Kind::send: ++channel(stage, call.peer).posted; return true;
        case Call::Kind::sent: {
            Channel& to = channel(stage, call.peer);
            const bool taken = to.taken > to.freed;
            to.freed += taken ? 1 : 0;
            return taken;
        }
        case Call::Kind::receive: {
            Channel& from = channel(call.peer, stage);
            const bool posted = from.posted > from.taken;
            from.taken += posted ? 1 : 0;
            return posted;
        }
        case Call::Kind::meeting: break;
        }
        return false;
    }

    bool meet() {
        const bool all = std::all_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
            return !stage.is_done() && stage.call().kind == Call::Kind::meeting &&
                   same_meeting(*stage.call().step, *stages_.front().call().step);
        });
        for (Stage& stage : stages_) {
            stage.next += all ? 1 : 0;
        }
        return all;
    }

    std::string waits(std::size_t stage) const {
        const Call& call = stages_[stage].call();
        const std::string cause = call.step->op.attributes.text("cause");
        const std::string peer = "stage " + std::to_string(call.peer);
        return "stage " + std::to_string(stage) + " waits for " +
               (call.kind == Call::Kind::receive ? "a message of " + peer
                : call.kind == Call::Kind::sent  ? peer + " to take a message"
                                                 : "all in " + call.step->op.kind.text()) +
               " (" + cause + ")";
    }

    std::vector<Stage> stages_;
    std::vector<Channel> channels_; // [source * stages + destination]
};

} // namespace

std::string endless_wait(std::span<const PlannedProgram> stages, const std::string& pipeline_axis) {
    return Play(stages, pipeline_axis).run();
}

} // namespace weft::plan

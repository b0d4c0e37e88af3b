// SPDX-License-Identifier: Apache-2.0
// The program of one stage while it is being written. Private to core/stages.
#pragma once

#include "core/ops/builder.h"
#include "core/stages/op_parts.h"
#include "core/stages/split_stages.h"

#include <unordered_map>

namespace weft::stages {

/// In place of a microbatch: before, behind or without the loop.
inline constexpr int kOutside = -1;

/// The whole program, as stages look things up in it.
struct Source {
    Source(const ir::Program& whole, const StageMap& map, int stages);

    const ir::Program& program;
    const StageMap& map;
    OpParts parts;
    std::vector<const ir::Op*> maker;  // [value]; null: an argument
    std::vector<const ir::Port*> port; // [value]; of the program's arguments
    std::vector<int> body_argument;    // [value] position; -1: none of the loop's
    std::vector<int> loop_output;      // [value] position; -1: none of the loop's
    std::vector<bool> in_loop;         // [value]
    std::vector<int> place;            // [value] number among those of its stage
    std::vector<int> places;           // [stage] how many there are
};

/// A value on its way from one stage to another.
struct Message {
    int microbatch = kOutside;
    ir::ValueId value; // of the whole program
    std::string cause;
    ir::Phase phase = ir::Phase::forward;
    std::vector<int> clock; // of the sender
    ir::ValueId local;      // in the sender's program
    ir::ValueId ticket;
    int received = 0; // time of the receiver; 0: not yet
};

/// The messages between stages, and what each stage knows of the others' progress: vector clocks
/// (Mattern 1989) that count ops.
class Mail {
public:
    explicit Mail(int stages);

    struct Channel {
        std::vector<Message> messages;
        std::size_t taken = 0; // by the receiver
        std::size_t freed = 0; // whose buffer the sender has back
    };
    Channel& channel(int from, int to) {
        return channels_[static_cast<std::size_t>(from * stages_ + to)];
    }
    std::vector<int>& clock(int stage) { return clocks_[static_cast<std::size_t>(stage)]; }
    int stages() const { return stages_; }

private:
    int stages_;
    std::vector<Channel> channels_;
    std::vector<std::vector<int>> clocks_;
};

class StageProgram {
public:
    StageProgram(const Source& source, const PipelineAxis& axis, Mail& mail, int stage);
    StageProgram(StageProgram&&) = delete;
    ~StageProgram() = default;

    /// Ops from now on belong to the action.
    void begin_action(std::string action) { action_ = std::move(action); }
    /// Ops from now on belong to none.
    void end_action() { action_.clear(); }
    /// Writes an op of this stage, and what it reads before it.
    void emit(const ir::Op& op, int microbatch);
    /// Posts a value of this stage to another one.
    void send(int microbatch, ir::ValueId id, int to);
    /// What the loop hands on to its next iteration.
    void carry(int position, int microbatch);

    bool has_argument(ir::ValueId id) const { return known(kOutside, id).valid(); }
    void add_argument(ir::ValueId id);
    void add_result(const ir::Port& port);
    ir::Program take();

private:
    std::int64_t key(int microbatch, ir::ValueId id) const {
        return static_cast<std::int64_t>(microbatch + 1) *
                   static_cast<std::int64_t>(source_.program.values.size()) +
               id.index;
    }
    bool is_here(int part) const { return std::max(0, part) % mail_.stages() == stage_; }
    bool has_place(ir::ValueId id) const {
        const int part = source_.parts.of(id);
        return part != kAnywhere && is_here(part);
    }

    /// This stage's own of a value of the whole program; invalid: there is none yet.
    ir::ValueId known(int microbatch, ir::ValueId id) const;
    void know(int microbatch, ir::ValueId id, ir::ValueId own);
    ir::ValueId local(int microbatch, ir::ValueId id);
    ir::ValueId make(int microbatch, ir::ValueId id);
    ir::ValueId body_argument(int microbatch, ir::ValueId id);
    ir::ValueId carried(int position);
    ir::ValueId slice_of(ir::ValueId stack, int index);
    ir::ValueId receive(int microbatch, ir::ValueId id);
    void take_message(int from);
    void free_known();
    void free_all();
    void wait_sent(Message& message, int to);
    ir::Op message_op(std::string kind, int peer, const Message& message) const;
    const ir::Op& append(ir::Op op);

    const Source& source_;
    const PipelineAxis& axis_;
    Mail& mail_;
    const int stage_;
    ir::Program program_;
    std::vector<ir::ValueIds> own_;                        // [1 + microbatch][place]
    std::unordered_map<std::int64_t, ir::ValueId> others_; // of values without a place here
    std::unordered_map<int, ir::ValueId> carried_; // by position
    std::string action_;
};

} // namespace weft::stages

// SPDX-License-Identifier: Apache-2.0
// The execution plan: what the studio draws, the cost model prices, the executor replays and an
// out-of-memory or hang report points into. Immutable once built; printable; written to plan.json.
//
// On a mesh every device runs the same programs on its parts of the arrays: types, sizes and times
// are those of one device, unless a name says "whole". In a pipeline each stage has programs and
// slots of its own, and all devices of a stage run the same.
//
// Memory: one arena per device. [0, state_bytes) holds the state slots for the whole run; the rest
// is scratch of the program that runs, sized for the largest. Every buffer has a fixed offset.
#pragma once

#include "core/config/json.h"
#include "core/ir/program.h"
#include "core/sharding/lint.h"
#include "core/sharding/spec_text.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::plan {

/// Memory categories in the one order used everywhere (INTERFACES.md, plan --json "by_category").
enum class Category : std::uint8_t {
    parameters,
    gradients,
    optimizer,
    state,
    packed_weights,
    activations,
    workspace,
    batch,
    communication,
    staging,
    library,
};
constexpr int kCategories = 11;
std::string_view category_name(Category category);

/// A state slot: a typed array that outlives program calls and is what checkpoints hold.
struct StateSlot {
    std::string name; // "layers.0.weight", "optimizer.m/layers.0.weight", "ema/layers.0.weight"
    Category category = Category::parameters;
    ir::Type type;
    bool saved = true;                     // part of a checkpoint (key/value caches are not)
    bool trainable = true;                 // parameters only
    bool by_row = false; // parameters only: a table of which an update touches some rows
    double weight_decay = 0;               // that pulls it at each update; parameters only
    std::vector<std::string> logical_axes; // one per dimension; "" = none
    std::int64_t offset = 0;               // in the arena; set by plan building
    ir::Type whole;                        // of the array that `type` is a device's part of
    sharding::Sharding placement;
    int stage = 0; // of the pipeline, whose devices hold it
};

/// A stretch of the arena with a lifetime within one program.
struct Buffer {
    std::string name; // value name, or "<op kind> <path>"
    Category category = Category::activations;
    std::int64_t bytes = 0;
    std::int64_t offset = 0; // from the start of the arena
    int first_step = 0;      // position in the program's linear step order that writes it first
    int last_step = 0;       // last position that reads it
    bool is_state = false;
};

/// Where an operand of a step lies. In iteration i of the enclosing loop at depth d the address is
/// offset + i_d * strides[d]. Depth 0 is the outermost loop.
struct Operand {
    int buffer = -1;
    std::int64_t offset = 0; // from the start of the arena
    ir::Type type;
    std::vector<std::int64_t>
        strides; // bytes per iteration of each enclosing loop; empty = all zero
};

/// One kernel call, or a loop over nested steps.
struct Step {
    ir::Op op; // kind, attributes, path, phase; body for "fused"; values are not
               // to be looked up: types are in the operands
    std::vector<ir::Type> body_types; // fused: types of the body's values in definition order
    std::vector<Operand> inputs;
    std::vector<Operand> outputs;
    Operand workspace;   // type u8; buffer -1 when none
    std::string kernel;  // e.g. "onednn matmul", "reference argmax"
    std::string backend; // "cpu", "reference", "" for planned-for hardware
    double flops = 0;
    double product_flops = 0; // of these, in matrix products and convolutions
    double bytes = 0;
    double predicted_ms = 0; // of one execution; 0 without a cost model
    // Loops:
    std::int64_t count = 0; // 0: not a loop
    bool reverse = false;
    std::vector<Step> steps;

    bool is_loop() const { return count > 0; }
};

/// A named stretch of a program that runs `repeat` times: "microstep x n", then "update".
struct Segment {
    std::string name;
    std::int64_t repeat = 1;
    int first_step = 0; // linear position, as in Buffer
    int steps = 0;
};

/// A port of a planned program: where the host writes arguments or reads results.
struct PlannedPort {
    ir::Role role = ir::Role::batch;
    std::string name;
    Operand operand; // a device's part
    ir::Type whole;
    sharding::Sharding placement;
};

struct PlannedProgram {
    std::string name;
    int stage = 0; // of the pipeline, whose devices run it
    std::vector<Segment> segments;
    std::vector<Step> steps;
    std::vector<Buffer> buffers;
    std::vector<PlannedPort> arguments; // state ports lie in the state region
    std::vector<PlannedPort> results;
    std::int64_t peak_bytes = 0;                        // of the arena, state included
    int peak_step = 0;                                  // linear position
    double flops = 0;                                   // of one call, loops included
    double predicted_ms = 0;                            // of one call
    double hidden_ms = 0; // of its exchanges, behind computation: not in predicted_ms
    double predicted_error = 0;                         // relative, one standard deviation
    std::vector<std::pair<int, std::int64_t>> timeline; // (linear position, live bytes)
    std::string text; // final program text; empty where the plan was asked for without texts
};

/// The programs of a plan, in their order. Copies of a plan share them: a plan of a training step is
/// completed by those of the other programs without copying what is large.
class ProgramList {
    using Items = std::vector<std::shared_ptr<PlannedProgram>>;

public:
    class const_iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = PlannedProgram;
        using difference_type = std::ptrdiff_t;
        using pointer = const PlannedProgram*;
        using reference = const PlannedProgram&;

        const_iterator() = default;
        explicit const_iterator(Items::const_iterator at) : at_(at) {}
        reference operator*() const { return **at_; }
        pointer operator->() const { return at_->get(); }
        const_iterator& operator++() {
            ++at_;
            return *this;
        }
        const_iterator operator++(int) { return const_iterator(at_++); }
        friend bool operator==(const const_iterator&, const const_iterator&) = default;

    private:
        Items::const_iterator at_;
    };

    const_iterator begin() const { return const_iterator(items_.begin()); }
    const_iterator end() const { return const_iterator(items_.end()); }
    std::size_t size() const { return items_.size(); }
    bool empty() const { return items_.empty(); }
    const PlannedProgram& operator[](std::size_t i) const { return *items_[i]; }
    const PlannedProgram& front() const { return *items_.front(); }
    const PlannedProgram& back() const { return *items_.back(); }

    void push_back(PlannedProgram program) {
        items_.push_back(std::make_shared<PlannedProgram>(std::move(program)));
    }
    /// The `i`th program of another list, shared with it.
    void share(const ProgramList& other, std::size_t i) { items_.push_back(other.items_[i]); }
    /// To change a program of a plan that nobody has a copy of yet.
    PlannedProgram& edit(std::size_t i) {
        WEFT_CHECK(items_[i].use_count() == 1, "a program that plans share does not change");
        return *items_[i];
    }

private:
    Items items_;
};

struct PassTime {
    std::string program;
    std::string pass;
    double ms = 0;
};

/// Host memory that the run needs beside the arena.
struct HostMemory {
    std::int64_t data_cache_bytes = 0; // decoded samples of train and validation, later of test
    std::int64_t prefetch_bytes = 0;   // batches made ahead, of training and of an evaluation
    std::int64_t staging_bytes = 0;    // checkpoint snapshot: of GPUs, or written in the background
    std::int64_t inside_bytes = 0;     // what a look inside the network compares weights with
    std::int64_t library_bytes = 0; // what libraries keep for themselves: an estimate in a plan; a
                                    // run measures it and says so in its `system` event
    std::int64_t bytes() const {
        return data_cache_bytes + prefetch_bytes + staging_bytes + inside_bytes + library_bytes;
    }
};

/// What a device that works by itself holds beside arena and landing; nothing on the host. In a
/// plan an estimate; a run measures it when its kernels are made.
struct DeviceMemory {
    std::int64_t context_bytes = 0;  // the driver's, for a process that uses the device
    std::int64_t library_bytes = 0;  // of libraries, and the code of kernels
    std::int64_t exchange_bytes = 0; // of groups of devices, for what is on its way
    std::int64_t bytes() const { return context_bytes + library_bytes + exchange_bytes; }
};

/// A changed run, planned again.
struct Alternative {
    std::string change;                 // "recompute blocks, micro batch 16"
    std::vector<std::string> overrides; // for --set: "training.recompute=\"blocks\""
    std::int64_t peak_bytes = 0;        // as ExecutionPlan::memory_bytes
    std::int64_t activation_bytes = 0;  // at the peak of the training step
    std::optional<double> predicted_step_ms;
    bool fits = true;
    bool on_front = false;       // no other alternative is better in memory and in time
    double communication_ms = 0; // of the step, on a mesh
};

/// What the devices of one stage of a pipeline hold and do; of a plan without one, all devices.
struct Stage {
    std::string layers;           // "layers.0 to layers.2", of each chunk
    std::int64_t state_bytes = 0; // of a device
    std::int64_t arena_bytes = 0;
    /// Beside the arena, on devices that work by themselves: where the arguments of the next run
    /// wait while one computes.
    std::int64_t landing_bytes = 0;
};

/// One action of a stage as it is predicted to run, from the start of the step.
struct ActionTime {
    std::string action; // "F3", "B3.1"
    double start_ms = 0;
    double end_ms = 0;
};

/// The pipeline of the training step.
struct Pipeline {
    std::string schedule;
    int stages = 1;
    int chunks = 1; // of each stage
    int microbatches = 1;
    std::vector<std::vector<std::string>> actions; // [stages] "F0", "F1", "B0", ...
    /// Idle time of the busiest stage's devices over the time of all actions; by predicted times,
    /// or, without a cost model, with a backward twice as long as a forward and even stages.
    double bubble_fraction = 0;
    double even_bubble_fraction = 0;            // of even stages, always
    std::vector<std::vector<ActionTime>> times; // [stages]; empty without a cost model
};

/// Why candidates are not among the alternatives, and how many there are of each reason.
using Rejections = std::vector<std::pair<std::string, int>>;

/// An exchange between devices in one call of a program, all its executions together.
struct Collective {
    int number = 0; // in program order, from 1
    int position = 0;
    std::string kind;              // "all_reduce"
    std::vector<std::string> axes; // major to minor
    std::int64_t devices = 1;      // of a group
    std::int64_t array_bytes = 0;  // of the whole array that is reduced, gathered or scattered
    std::int64_t sent_bytes = 0;   // by each device, by the ring algorithm, in all executions
    double count = 1;              // executions
    std::string overlaps;          // phase whose work it can hide behind; empty: none
    double predicted_ms = 0;       // of all executions; 0 without a cost model
    std::string cause;             // what asked for it: "dropout at blocks.0.mlp.down"
    std::string what;              // travels: "blocks.0.mlp.down output"; empty: not known
    std::string why;               // "blocks.0.mlp.down.weight is split over its rows"; or empty
    std::string tensor;            // the state slot that `why` is about; empty: of none
    std::string path;
    ir::Phase phase = ir::Phase::forward;
};

/// A value that a layer puts out in the forward phase of the training step: of one microstep. Types
/// are those that the passes decided on; recompute may make the value twice instead of keeping it.
struct Activation {
    std::string name;                    // "blocks.0.mlp.up output"; of a part of it: "... matmul"
    std::string path;                    // of the layer
    std::string op;                      // kind of the op that makes it
    std::vector<std::string> parameters; // that this op reads
    ir::Type type;                       // of a device's part
    ir::Type whole;
    sharding::Sharding placement;
    int stage = 0;             // of the pipeline
    bool for_backward = false; // the backward phase reads it
};

/// What the batch does to the training step of a mesh without a pipeline, where that is known:
/// below which batch its devices have too little to do at a time.
struct BatchAdvice {
    std::int64_t samples = 0; // of a device and microstep, now
    std::int64_t global_batch_size = 0;
    /// With as many samples the weights' products compute as long as they read and write.
    std::int64_t balanced_samples = 0;
    double communication_share = 0; // of the predicted step
    /// With as large a batch in as many microsteps the step exchanges as long as it computes; none:
    /// no batch does that, because what is exchanged grows with it.
    std::optional<std::int64_t> balanced_batch_size;
};

struct ExecutionPlan {
    sharding::Mesh mesh; // no axes: one device
    std::string strategy;
    std::vector<sharding::Rule> rules; // those in effect: the run's own before the strategy's
    int zero_stage = 0;
    std::vector<sharding::Finding> findings; // what the mesh pads or keeps whole
    std::optional<BatchAdvice> batch_advice; // with a cost model and several devices
    std::vector<StateSlot> state_slots;
    std::vector<Activation> activations; // of the training step, in its order
    std::int64_t state_bytes = 0; // of the device that holds most
    std::int64_t arena_bytes = 0; // of the device that needs most
    ProgramList programs;
    std::vector<Stage> stages;        // one without a pipeline
    int pipeline_axis = -1;           // of the mesh; -1: none
    std::optional<Pipeline> pipeline; // of the training step
    HostMemory host;
    DeviceMemory beside;
    std::int64_t parameters = 0; // trainable elements, tied ones once
    double flops_per_step = 0;
    double model_flops_per_step = 0; // products of the model as written, nothing computed twice
    std::vector<PassTime> pass_times;
    double compile_ms = 0;
    std::vector<std::string> assumptions;
    std::vector<std::string> fallbacks; // one line per kernel that is slower than it could be

    // Where it is planned to run, and the verdict (core/train/planning.h fills them in).
    std::string device = "cpu";               // kind: "cpu", "cuda", "tpu"
    std::string device_title;                 // of planned-for hardware; empty: this machine
    std::optional<double> predicted_step_ms;  // without a cost model: none
    double communication_ms = 0;              // of these, in exchanges
    double predicted_error = 0;               // relative, one standard deviation
    std::string prediction_basis;             // what the prediction rests on, one line
    std::optional<std::int64_t> limit_bytes;  // memory that the device has for this run
    std::string limit_basis;                  // what sets the limit, for people
    std::vector<Alternative> fixes;           // filled in when it does not fit
    std::vector<Alternative> recompute_curve; // filled in where it is asked for
    bool fits() const { return !limit_bytes || memory_bytes() <= *limit_bytes; }
    /// Everything that the device's memory must hold: arena, and on the CPU also what the host
    /// keeps, elsewhere what lies beside the arena.
    std::int64_t device_bytes() const;
    /// Everything that the memory behind the limit must hold: simulated devices share the host's.
    std::int64_t memory_bytes() const;

    /// The stage that a device belongs to.
    int stage_of(std::int64_t device) const;
    /// Bytes of all arenas together.
    std::int64_t all_arena_bytes() const;
    /// Of the stage that has most.
    std::int64_t landing_bytes() const;

    const PlannedProgram* find(std::string_view program, int stage = 0) const;
    /// The program of every stage, in their order; empty: the plan has none of this name.
    std::vector<const PlannedProgram*> all_stages(std::string_view program) const;
    const StateSlot* find_slot(std::string_view name) const;
};

/// The exchanges of a program.
std::vector<Collective> collectives(const PlannedProgram& program);
/// One execution of the exchange that a step is; none: it computes.
std::optional<Collective> collective_of(const Step& step);

/// The step at a linear position: steps are numbered in text order, a loop before its body.
const Step* step_at(const PlannedProgram& program, int position);

/// Bytes alive at the peak of a program, per category (index = Category).
std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan,
                                            const PlannedProgram& program);

/// Bytes per category of everything that the device's memory must hold, at the peak of the program
/// that needs most (index = Category). Their sum is device_bytes() less the holes of the arena.
std::vector<std::int64_t> bytes_by_category(const ExecutionPlan& plan);
/// The same for the devices of one stage of a pipeline.
std::vector<std::int64_t> device_bytes_by_category(const ExecutionPlan& plan, int stage);
/// Bytes per category of everything behind the limit: of all devices where they share the host's
/// memory. Their sum is memory_bytes() less the holes of the arenas.
std::vector<std::int64_t> memory_by_category(const ExecutionPlan& plan);
/// The program that needs most memory: it sizes the arena. Null without programs.
const PlannedProgram* largest_program(const ExecutionPlan& plan);
const PlannedProgram* largest_program(const ExecutionPlan& plan, int stage);
/// "matmul at blocks.3.mlp.up": the op at a program's peak.
std::string peak_op(const PlannedProgram& program);

/// The document of `weft plan --json` (INTERFACES.md); "predicted_step_ms" is null until there is a
/// cost model for the machine.
config::Json to_json(const ExecutionPlan& plan);

struct PageStyle {
    bool colour = false;
    int columns = 80;
    sharding::SpecDialect specs = sharding::SpecDialect::jax;
};
/// The page of `weft plan` for people.
std::string to_text(const ExecutionPlan& plan, const PageStyle& style = {});
/// The page of `weft plan --advise`: the verdict, and the table of what else could be.
std::string advice_text(const ExecutionPlan& plan, const std::vector<Alternative>& advice,
                        const PageStyle& style = {});
/// The same for meshes, fastest first.
std::string mesh_advice_text(const ExecutionPlan& plan, const std::vector<Alternative>& advice,
                             const Rejections& others, const PageStyle& style = {});
config::Json to_json(const std::vector<Alternative>& alternatives);

/// An array of a plan that people ask for by name: a state slot, an activation, or the batch of one
/// call of the training step ("inputs", "targets").
struct Tensor {
    std::string name;
    std::string kind; // of a category, or "activation"
    ir::Type type;    // of a device's part
    ir::Type whole;
    sharding::Sharding placement;
    int stage = 0; // of the pipeline

    Tensor(const StateSlot& slot);             // NOLINT: a slot is a tensor
    Tensor(const Activation& activation);      // NOLINT: so is an activation
    Tensor(const PlannedPort& port, int stage);
};
std::optional<Tensor> find_tensor(const ExecutionPlan& plan, std::string_view name);
/// The arrays of a batch of the training step, those of the first stage that reads them.
std::vector<Tensor> batch_tensors(const ExecutionPlan& plan);

/// `weft plan --tensor`: which device holds which ranges of a tensor. Devices with the same ranges
/// stand together.
std::string tensor_text(const ExecutionPlan& plan, const Tensor& tensor,
                        const PageStyle& style = {});
config::Json tensor_json(const ExecutionPlan& plan, const Tensor& tensor);

} // namespace weft::plan

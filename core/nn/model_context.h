// SPDX-License-Identifier: Apache-2.0
// What a layer or model sees while it builds its part of a program: scopes that become layer paths,
// variables (parameters, running statistics, key/value caches) by name, the mode, and the builder.
// One context builds one program; it belongs to the thread that compiles.
#pragma once

#include "core/ops/builder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::nn {

enum class Mode : std::uint8_t {
    train,    // dropout is on, batch statistics are used and recorded
    evaluate, // neither
    decode,   // language models: keys and values go through caches, one sequence
};

/// What the data delivers per sample (data::SampleInfo without its texts).
struct DataShape {
    ir::Type input;
    ir::Type target;
    std::int64_t classes = 0; // classes or vocabulary; 0 for regression
    std::int64_t point = 0;   // numbers of a point, where the loss asks for one (LossDef::point)
    std::int64_t symbols =
        0; // classes at each position, where the loss asks for positions (LossDef::symbols)
    std::int64_t identifiers = 0; // above 0: the first number of an input says of what kind it is

    /// Numbers that a model has to put out per sample (per position for language models).
    std::int64_t outputs() const {
        return point > 0     ? point
               : symbols > 0 ? symbols
               : classes > 0 ? classes
                             : target.shape.elements();
    }
};

/// Start value of a variable. Random ones draw from the stream of the variable's own name, so they
/// do not depend on devices, on order of creation or on other variables.
struct Init {
    enum class Kind : std::uint8_t { zeros, ones, normal, uniform, truncated_normal, constant };
    Kind kind = Kind::zeros;
    // Of normal values the standard deviation, truncated or not; of uniform ones the bound of
    // (-scale, scale); a constant itself.
    double scale = 0.0;

    static Init zeros() { return {}; }
    static Init ones() { return {Kind::ones, 0.0}; }
    static Init normal(double deviation) { return {Kind::normal, deviation}; }
    /// Cut at two standard deviations of the normal distribution before the cut, which is wider, so
    /// that `deviation` is what remains (variance_scaling of JAX).
    static Init truncated_normal(double deviation) { return {Kind::truncated_normal, deviation}; }
    static Init constant(double value) { return {Kind::constant, value}; }
    /// Uniform in +-1 / sqrt(fan_in): He et al. 2015 with gain sqrt(1/3). Logits of a fresh network
    /// stay small, so that its first loss is that of guessing.
    static Init fan_in(std::int64_t inputs);
};

/// A state slot as the model wants it. All are f32.
struct Variable {
    enum class Kind : std::uint8_t { parameter, statistic, cache, carry };
    Kind kind = Kind::parameter;
    std::string name; // layer path + own name: "blocks.3.mlp.up.weight"
    ir::Shape shape;  // of a carry: with the rows that the program has
    Init init;
    std::vector<std::string> logical_axes; // one per dimension; "" = none
    ir::ValueId value{};                   // in the program being built
    bool by_row = false;                   // a table of ModelContext::table_rows
};

/// Rows that a model reads of a table.
struct RowReading {
    std::string table;
    ir::ValueId ids, rows; // i32[B], f32[B, C]
};

struct Lora; // core/nn/layers/lora.h

/// Appends d sum(output) / d by, of the shape of `by`, as values that can be differentiated again.
using SlopeOf = ir::ValueId (*)(ops::Builder& builder, ir::ValueId output, ir::ValueId by);

/// What the program around the model provides; invalid ids where the mode has no use for them.
struct Surroundings {
    Mode mode = Mode::evaluate;
    DataShape data = {};
    ir::ValueId random = {};   // i64[3], train; evaluate where the model draws there
    ir::ValueId weights = {};  // f32[B], train: 0 marks padding
    ir::ValueId labels = {};   // i32[B]: classes, for models that make samples of a class
    ir::ValueId position = {}; // i64[], decode: position of the first token in the sequence
    // f32[B], train, of models that hold samples: 1 where a row begins another one. Invalid: every
    // row does.
    ir::ValueId fresh = {};
    bool traces = false;        // evaluate, of models that hold samples: trace() is called
    const Lora* lora = nullptr; // adapters of its linear layers; null: none. Outlives the context
    SlopeOf slope = nullptr;    // null: nobody differentiates, as where a model is only looked at
};

/// What a model says of a sample beside its prediction; ids are invalid where it says nothing.
struct Verdict {
    ir::ValueId logit = {}; // f32[B], that the sample is right as a whole; it is learnt
    double weight = 0.0;    // of that loss
    ir::ValueId steps = {}; // f32[B], how many the model would take, where it evaluates
};

/// What a model that works on samples step by step, each of some cycles, says after every cycle.
struct Trace {
    ir::ValueId outputs = {};  // [steps, cycles, B, output...]
    ir::ValueId verdicts = {}; // f32[steps, cycles, B], Verdict::logit
};

class ModelContext {
public:
    /// Ops go to `builder`; variables that are not bound become arguments of its program.
    ModelContext(ops::Builder& builder, Surroundings around)
        : builder_(builder), around_(std::move(around)) {}
    ModelContext(const ModelContext&) = delete;
    ModelContext& operator=(const ModelContext&) = delete;

    ops::Builder& builder() { return builder_; }
    Mode mode() const { return around_.mode; }
    bool training() const { return around_.mode == Mode::train; }
    const DataShape& data() const { return around_.data; }
    ir::ValueId random() const { return around_.random; }
    ir::ValueId weights() const { return around_.weights; }
    ir::ValueId labels() const { return around_.labels; }
    ir::ValueId position() const { return around_.position; }
    ir::ValueId fresh() const { return around_.fresh; }
    bool traces() const { return around_.traces; }
    const Lora* lora() const { return around_.lora; }
    const std::string& path() const { return builder_.path(); }
    const ir::Shape& shape(ir::ValueId id) const { return builder_.shape(id); }

    /// A trained array of the current scope. Asking twice for one name gives one array: tied
    /// weights.
    ir::ValueId parameter(std::string_view name, ir::Shape shape, Init init,
                          std::vector<std::string> logical_axes);
    /// Rows `ids` i32[B] of a trained table [count, width] that starts at zero: f32[B, width]. An
    /// update changes the rows that were read and touches no others, so that a table may be large;
    /// it is read once in a program.
    ir::ValueId table_rows(std::string_view name, std::int64_t count, std::int64_t width,
                           ir::ValueId ids);
    const std::vector<RowReading>& readings() const { return readings_; }
    /// A running statistic: not trained, saved with the model; changed by `update`.
    ir::ValueId statistic(std::string_view name, ir::Shape shape, Init init);
    /// A key/value cache: not saved; changed by `update`.
    ir::ValueId cache(std::string_view name, ir::Shape shape);
    /// What a training row keeps until the next step, which may go on with the same sample: f32[B,
    /// shape...], as `update` left it, zeros in the first step. Where fresh() is valid.
    ir::ValueId carry(std::string_view name, const ir::Shape& shape);
    /// Where rows are held: f32[B], 1 where the row has done with its sample and takes another one
    /// in the next step.
    void finish(ir::ValueId done) { finished_ = done; }
    ir::ValueId finished() const { return finished_; }
    void judge(const Verdict& verdict) { verdict_ = verdict; }
    const Verdict& verdict() const { return verdict_; }
    /// Where traces().
    void trace(const Trace& trace) { trace_ = trace; }
    const Trace& traced() const { return trace_; }

    /// The new value of a statistic, cache or carry of the current scope.
    void update(std::string_view name, ir::ValueId value);

    /// Adds to the loss that is trained on, not to the one that is reported: f32[B], per sample, in
    /// units of the mean loss of its terms.
    void penalise(ir::ValueId per_sample);
    /// The sum of all penalties; invalid when there are none.
    ir::ValueId penalty() const { return penalty_; }

    /// A value beside the output that the loss reads by its name, such as the mean of a latent.
    void publish(std::string name, ir::ValueId value);
    /// All of them, in order.
    const std::vector<std::pair<std::string, ir::ValueId>>& published() const { return published_; }

    /// SlopeOf, for what is trained on slopes.
    bool knows_slopes() const { return around_.slope != nullptr; }
    ir::ValueId slope(ir::ValueId output, ir::ValueId by) {
        return around_.slope(builder_, output, by);
    }

    /// Lets a variable be `value` in place of a program argument of its name: a value carried by a
    /// loop, or the averaged copy of a parameter.
    void bind(const std::string& full_name, ir::ValueId value);

    /// Every variable used so far, in order of first use.
    const std::vector<Variable>& variables() const { return variables_; }
    /// New values by full name, in order of update.
    const std::vector<std::pair<std::string, ir::ValueId>>& updates() const { return updates_; }

    /// Throws weft::Error{usage} at the current layer path.
    [[noreturn]] void fail(const std::string& text, std::string hint = {}) const;

private:
    friend class Scope;
    std::string full_name(std::string_view name) const;
    ir::ValueId variable(Variable wanted);

    ops::Builder& builder_;
    Surroundings around_;
    std::vector<Variable> variables_;
    std::vector<std::pair<std::string, ir::ValueId>> bound_;
    std::vector<std::pair<std::string, ir::ValueId>> updates_;
    std::vector<std::pair<std::string, ir::ValueId>> published_;
    std::vector<RowReading> readings_;
    ir::ValueId penalty_;
    ir::ValueId finished_;
    Verdict verdict_;
    Trace trace_;
};

/// Extends the layer path while it lives: Scope scope(context, "mlp").
class Scope {
public:
    Scope(ModelContext& context, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

private:
    ModelContext& context_;
    std::string outer_;
};

} // namespace weft::nn

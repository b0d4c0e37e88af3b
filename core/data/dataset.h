// SPDX-License-Identifier: Apache-2.0
// Data as the engine sees it: random access to samples, split into train, validation and test.
// (data may use ir/type.h for element types and shapes, and nothing else of ir.)
#pragma once

#include "core/base/error.h"
#include "core/config/field.h"
#include "core/data/opening.h"
#include "core/ir/type.h"
#include "core/tokenizer/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace weft::data {

/// Of samples that are boards: cells row by row, of which the blank ones are to be filled.
struct BoardForm {
    enum class Rules : std::uint8_t { none, sudoku, maze }; // what puzzles/judge_board.h checks
    std::int64_t rows = 0, columns = 0;
    std::int64_t box_rows = 0, box_columns = 0; // cells of a box; 0: there are none
    std::string symbols;                        // an ASCII character for each class; '.' is blank
    std::int32_t blank = 0;                     // the class of a cell to be filled
    Rules rules = Rules::none;

    std::int64_t cells() const { return rows * columns; }
};

/// What one sample looks like. The batch programs prepend the batch dimension.
struct SampleInfo {
    ir::Type input;  // images f32[H,W,C] in 0..1 before transforms; features f32[F]; tokens i32[T]
    ir::Type target; // class label i32[]; next tokens i32[T]; regression f32[K]
    std::int64_t classes = 0;             // number of classes or vocabulary size; 0 for regression
    std::vector<std::string> class_names; // empty when unknown
    // Samples of each class, those of a split together; empty: nobody has counted.
    std::vector<std::int64_t> class_counts;
    std::string
        description; // "Fashion-MNIST, 60,000 images 28x28": for plan, run.json and the studio
    // Of a table's columns; empty where there are none.
    std::vector<std::string> input_names;  // one per feature: "age", "colour=red"
    std::vector<std::string> target_names; // one per number to predict, or that of the class
    /// What the tokens of a text are; null: they are no text, or nobody said which.
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer{};
    std::optional<BoardForm> board{};
    /// Kinds of samples that are told apart: above 0 the first number of every input is that of its
    /// kind, from 0 (which is none of them) to one below this.
    std::int64_t identifiers = 0;

    /// Numbers of an input before what a sample is itself.
    std::int64_t lead() const { return identifiers > 0 ? 1 : 0; }
};

/// What a source has learnt from its training samples, and other files of the same data must
/// follow: columns and classes by name, means. Known to its format only.
class Encoding {
public:
    virtual ~Encoding() = default;
};

/// Where regression targets are standardised: number = value * scale + mean, per target.
struct TargetScale {
    std::vector<double> mean, scale; // empty: targets are as in the files
};

/// A sample that is damaged, within what its settings allow: others go on without it.
class DamagedSample : public Error {
public:
    explicit DamagedSample(const Error& fault) : Error(fault) {}
};

/// Where Source::read_run puts samples.
struct RowsOut {
    std::span<const std::uint32_t> places; // the row of each sample, one after the other
    std::span<std::byte> inputs;           // [rows, input shape]
    std::span<std::byte> targets;          // [rows, target shape]
    std::vector<std::byte>& scratch;       // of one thread, kept from call to call
};

/// Random access to samples. Thread-safe for reading once opened.
class Source {
public:
    virtual ~Source() = default;
    virtual const SampleInfo& info() const = 0;
    virtual std::int64_t samples() const = 0;
    /// Writes sample `index` (row-major, sizes of info()). `target` may be empty to skip it.
    /// Throws weft::Error{data} naming file and index; DamagedSample where others go on.
    virtual void read(std::int64_t index, std::span<std::byte> input,
                      std::span<std::byte> target) const = 0;
    /// As read, for training in one epoch: random transforms apply here and nowhere else, as a pure
    /// function of (seed, epoch, index). The same as read where there are none.
    virtual void read_in_epoch(std::int64_t index, std::int64_t /*epoch*/,
                               std::span<std::byte> input, std::span<std::byte> target) const {
        read(index, input, target);
    }
    /// Of a source that is too large to be kept: the first sample of every block, then samples().
    /// A block is what is read cheaply in one piece, so that such a source is read block by block,
    /// in a window of them (sampler.h). Empty: any sample is at hand.
    virtual std::span<const std::int64_t> blocks() const { return {}; }
    /// Samples first, first + 1, ... of one block, as many as there are places: as read_in_epoch
    /// gives them, or without an epoch as read does. Throws weft::Error{data}.
    virtual void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                          const RowsOut& out) const;
    /// Class of a sample, for stratified splits and histograms; -1 when there is none.
    virtual std::int32_t label(std::int64_t index) const = 0;
    /// The number of a sample among those of its part's files, before any is taken out for
    /// validation or left out: what corrections (corrections.h) count by.
    virtual std::int64_t origin(std::int64_t index) const { return index; }
    /// Where a sample comes from, for people: "x.npy, row 40".
    virtual std::string place_of(std::int64_t index) const {
        return "sample " + std::to_string(index);
    }
    /// Host bytes that this source keeps in memory (decoded cache).
    virtual std::int64_t cache_bytes() const = 0;
    /// Hash of what the data is (names, sizes, headers): recorded in run.json and checked on
    /// resume.
    virtual std::string fingerprint() const = 0;
    /// For OpenContext::encoding of validation, test and input files; may be null.
    virtual std::shared_ptr<const Encoding> encoding() const { return nullptr; }
    virtual TargetScale target_scale() const { return {}; }
    /// Of a source that opens at its first use: what was decided and skipped then. DataSet::notes
    /// has it for the others.
    virtual Notes notes() const { return {}; }
};

/// Whether decoded samples stay in memory.
enum class Cache : std::uint8_t {
    none,      // never: they are read block by block
    automatic, // where they take less than kKeptBytes
    memory     // always
};
inline constexpr std::int64_t kKeptBytes = std::int64_t{1} << 30;

/// What opening needs beside the "data" section of the configuration.
struct OpenContext {
    std::filesystem::path base_dir{}; // relative paths count from here
    std::int64_t sequence_length = 0; // the model's context; 0 when it has none
    std::uint64_t seed = 0;
    /// Of the training samples, when this is another part of the data; null: it is train itself.
    std::shared_ptr<const Encoding> encoding = nullptr;
    /// Whether samples need targets. Without one a label is -1 and a number 0.
    enum class Targets : std::uint8_t { needed, may_be_absent };
    Targets targets = Targets::needed;
    /// As the "data" section says: open_data and its like set it.
    Cache cache = Cache::automatic;
    /// Makes tokens of text; null: the format's own way.
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer = nullptr;
    /// Ends opening and outlining soon: they throw weft::Error{runtime}.
    std::stop_token stop = {};
    /// Hears how far they are.
    OnOpening on_opening = {};
};

/// Views of the data of one run. The test split is read from disk when it is first used (`weft
/// eval`, the final line): until then `test` holds no data, and its errors come with that first
/// use.
struct DataSet {
    std::shared_ptr<const Source> train;
    std::shared_ptr<const Source> validation; // null when the split is 0
    std::shared_ptr<const Source> test;       // null when there is none
    /// The parts as their files have them, numbered as Source::origin says; validation is null
    /// where it is a share of train.
    std::shared_ptr<const Source> train_files, validation_files;
    Notes notes;                              // what was decided and what was skipped
    std::int64_t training_cache_bytes = 0;    // host bytes of train and validation together
    /// Host bytes of all parts as they are now.
    std::int64_t cache_bytes() const {
        return training_cache_bytes + (test == nullptr ? 0 : test->cache_bytes());
    }
};

/// Opens the normalised "data" section. Transforms are part of the returned sources (deterministic
/// ones inside read(); random ones keyed by seed, sample and epoch through the loader). Throws
/// weft::Error{data}.
DataSet open_data(const config::Json& data_section, const OpenContext& context);

/// Samples to predict from a file, read as those of `train` are, transforms included; targets may
/// be absent. The file is of the format of data.train, or, for a model of images, a PNG or JPEG.
/// Throws weft::Error{data}, also when they do not fit the model.
std::shared_ptr<const Source> open_input(const config::Json& data_section,
                                         const OpenContext& context, const Source& train,
                                         const std::filesystem::path& input, Notes& notes);

/// What a data set will be, learned from names, sizes and headers: no sample is kept in memory.
struct DataOutline {
    SampleInfo sample;        // of train
    std::int64_t samples = 0; // of train, validation taken out
    bool has_validation = false;
    bool has_test = false;
    std::int64_t cache_bytes = 0;         // host bytes that train and validation will keep
    std::int64_t test_cache_bytes = 0;    // and test, once it is used
    std::int64_t largest_block = 0;       // samples, of train; 0: it does not stream
    std::vector<std::string> assumptions; // where files were not there to be looked at
    std::vector<std::string> warnings;    // of train's values, as far as it looked
};

/// Whether files must be there: a plan for other hardware can do without where a format's settings
/// say what a sample is.
enum class Files : std::uint8_t { must_exist, may_be_absent };

/// Outline of what open_data would open. Throws weft::Error{data} as it does, as far as it looks.
DataOutline outline_data(const config::Json& data_section, const OpenContext& context,
                         Files files = Files::must_exist);

/// Fields of the "data" section, for the whole schema.
config::FieldTable data_fields();

/// What the table cannot say: "validation" is {"split": X}, a source or null. Checks and normalises
/// it in place (open_data does so too); pointers start with `pointer`, e.g. "/data".
config::Diagnostics check_data(config::Json& data_section, const std::string& pointer);

} // namespace weft::data

// SPDX-License-Identifier: Apache-2.0
// How rows of a text table become samples: which columns go in, which one is predicted, the numbers
// of categories and classes, the means that stand for what is missing.
#pragma once

#include "core/data/moments.h"
#include "core/data/tables/table.h"

#include <memory>

namespace weft::data {

struct TableSettings {
    Path path;
    TableWishes wishes;
    std::vector<std::string> targets;                // empty: found by name, or the last column
    std::optional<std::vector<std::string>> columns; // inputs; none given: all that are fit
    std::optional<bool> classify;                    // none given: by the target's values
    bool one_hot = true;                             // categories; otherwise their numbers
    enum class Missing : std::uint8_t { mean, zero, drop, error };
    Missing missing = Missing::mean;
    double most_bad = 0.05;
};

/// What is learnt from the training file; all parts of the data share it.
struct TableEncoding final : Encoding {
    struct Input {
        std::string name;
        std::size_t place = 0;          // column in the training file
        bool is_number = true;          // also a part of a date
        DatePart part = DatePart::none; // date: one input for each of its parts
        DateOrder order = DateOrder::day_first;
        std::vector<std::string> categories; // as written, sorted
        double fill = 0;                     // number: stands for a missing one
        Moments scale;                       // number
    };
    struct Target {
        std::string name;
        std::size_t place = 0;
        Moments scale; // regression
    };
    TableLayout layout; // of the training file
    std::vector<Input> inputs;
    std::vector<Target> targets;
    bool classify = true;
    std::vector<std::string> class_texts; // as written, sorted; of numbers empty
    std::vector<double> class_numbers;    // sorted; of texts empty
    bool one_hot = true;
    TableSettings::Missing missing = TableSettings::Missing::mean;

    std::int64_t features() const;
    /// Whether input `i` is the first one of its column of the file.
    bool begins_column(std::size_t i) const {
        return inputs[i].part == DatePart::none || inputs[i].part == kDateParts.front();
    }
    std::int64_t columns() const;
    std::vector<std::string> class_names() const;
    /// Appends what a value of TableRows is in a sample, f32; returns the end of it.
    std::byte* write(const Input& input, double value, std::byte* out) const;
    /// Numbers of a row of TableRows.
    std::size_t stride() const { return inputs.size() + (classify ? 1 : targets.size()); }
};

/// Settles every column, but for fills and scales. `notes` receives what was decided. Throws
/// weft::Error{data}.
TableEncoding learn_encoding(const TableTally& table, const TableSettings& settings, Notes& notes);

/// Rows in the file's order: per row one number per input (NaN: missing; a category's number, -1
/// for none), then the class (-1: none), or the targets (NaN: none).
struct TableRows {
    std::vector<double> values;
    std::int64_t rows = 0;
    /// Where to read some of them again, at some distance.
    struct Mark {
        CsvPlace place;
        std::int64_t row = 0;
    };
    std::vector<Mark> marks;

    /// The row of every mark, and the end.
    std::vector<std::int64_t> blocks() const;
};

/// What reading rows came across.
struct RowReport {
    BadLines bad;          // left out: damaged, or a number that is none, a class that is unknown
    std::int64_t read = 0; // rows of the file
    std::int64_t unlabelled = 0;       // left out: no target
    std::int64_t dropped = 0;          // left out: something missing, where that is wanted
    std::vector<std::int64_t> missing; // per input, in the rows that stay
    std::vector<std::int64_t> unknown; // per input: categories that training does not have
};

enum class KeepRows : std::uint8_t { yes, only_count, marks };

/// Reads `path`, whose columns are found by name where it has a header and by place otherwise.
TableRows read_rows(const Path& path, const TableWishes& wishes, const TableEncoding& encoding,
                    const OpenContext& context, const TablePass& pass, double most_bad,
                    KeepRows keep, RowReport& report);

/// Rows of a table that were read before, again. Any thread.
class RowsAgain {
public:
    /// As read_rows. Throws weft::Error{data}.
    RowsAgain(Path path, const TableWishes& wishes, std::shared_ptr<const TableEncoding> encoding,
              OpenContext::Targets targets);
    ~RowsAgain();

    /// `values` of the rows first, first + 1, ..., so many, of which `mark` is one or comes before.
    /// Throws weft::Error{data} where they are not there any more.
    void read(const TableRows::Mark& mark, std::int64_t first, std::int64_t rows,
              std::vector<double>& values) const;

private:
    struct Where;
    Path path_;
    std::shared_ptr<const TableEncoding> encoding_;
    std::unique_ptr<const Where> where_;
    OpenContext::Targets targets_;
};

/// The report in words.
void tell(const RowReport& report, const TableEncoding& encoding, Notes& notes);

} // namespace weft::data

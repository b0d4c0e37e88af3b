// SPDX-License-Identifier: Apache-2.0
// csv: a text table with one sample per row. Numbers are standardised and categories one-hot unless
// the settings say otherwise; rows lie decoded in memory, or are read again block by block. The
// order of work: two passes, the first of which settles what the columns are (table.h,
// table_encoding.h), the second reads the rows.
#include "core/data/formats/format_list.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/tables/table_encoding.h"
#include "core/data/wild_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

SampleInfo describe_table(const fs::path& path, const TableEncoding& encoding, std::int64_t rows) {
    SampleInfo info;
    info.input = {ir::DType::f32, {encoding.features()}};
    std::string targets;
    if (encoding.classify) {
        info.target = {ir::DType::i32, {}};
        info.class_names = encoding.class_names();
        info.classes = static_cast<std::int64_t>(info.class_names.size());
    } else {
        info.target = {ir::DType::f32, {static_cast<std::int64_t>(encoding.targets.size())}};
    }
    for (const auto& target : encoding.targets) {
        targets += (targets.empty() ? "" : ", ") + shown(target.name);
        info.target_names.push_back(shown(target.name));
    }
    for (const TableEncoding::Input& input : encoding.inputs) {
        if (input.part != DatePart::none) {
            info.input_names.push_back(shown(input.name) + ": " +
                                       std::string(part_name(input.part)));
            continue;
        }
        if (input.is_number || !encoding.one_hot) {
            info.input_names.push_back(shown(input.name));
            continue;
        }
        for (const std::string& category : input.categories) {
            info.input_names.push_back(shown(input.name) + "=" + shown(category));
        }
    }
    info.description = path.filename().string() + ", " + format_thousands(rows) + " rows, " +
                       std::to_string(encoding.columns()) + " columns to " + targets;
    return info;
}

class CsvSource final : public Source {
public:
    /// `again`: where the rows are not kept.
    CsvSource(fs::path path, std::shared_ptr<const TableRows> rows,
              std::shared_ptr<const TableEncoding> encoding, std::shared_ptr<const RowsAgain> again)
        : path_(std::move(path)), rows_(std::move(rows)), encoding_(std::move(encoding)),
          again_(std::move(again)), info_(describe_table(path_, *encoding_, rows_->rows)) {
        if (encoding_->classify && again_ == nullptr) {
            count_classes();
        }
        if (again_ != nullptr) {
            blocks_ = rows_->blocks();
        }
        fingerprint_ =
            "csv " + ir::to_text(info_.input) + " to " + ir::to_text(info_.target) + ", " +
            std::to_string(rows_->rows) + " rows, " +
            (again_ == nullptr
                 ? "crc32c " + std::to_string(crc32c(std::as_bytes(std::span(rows_->values))))
                 : std::to_string(size_of(path_)) + " bytes");
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return rows_->rows; }
    std::span<const std::int64_t> blocks() const override { return blocks_; }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(static_cast<std::int64_t>(input.size()) == info_.input.bytes(),
                   "input has the size of info()");
        std::vector<double> values;
        write_row(rows_from(index, 1, values), input, target);
    }

    void read_run(std::int64_t first, std::optional<std::int64_t>,
                  const RowsOut& out) const override {
        std::vector<double> values;
        const auto count = static_cast<std::int64_t>(out.places.size());
        const double* row = rows_from(first, count, values);
        const InStage transforming(Stage::transform);
        const auto input_bytes = static_cast<std::size_t>(info_.input.bytes());
        const auto target_bytes = static_cast<std::size_t>(info_.target.bytes());
        for (const std::uint32_t place : out.places) {
            write_row(row, out.inputs.subspan(place * input_bytes, input_bytes),
                      out.targets.subspan(place * target_bytes, target_bytes));
            row += encoding_->stride();
        }
    }

    std::int32_t label(std::int64_t index) const override {
        std::vector<double> values;
        return encoding_->classify ? static_cast<std::int32_t>(
                                         rows_from(index, 1, values)[encoding_->inputs.size()])
                                   : -1;
    }
    std::string place_of(std::int64_t index) const override {
        return path_.string() + ", row " + std::to_string(index + 1) + " of those that were read";
    }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(rows_->values.capacity() * sizeof(double));
    }
    std::string fingerprint() const override { return fingerprint_; }
    std::shared_ptr<const Encoding> encoding() const override { return encoding_; }

    TargetScale target_scale() const override {
        TargetScale out;
        for (const auto& target : encoding_->targets) {
            out.mean.push_back(target.scale.mean);
            out.scale.push_back(target.scale.deviation);
        }
        return encoding_->classify ? TargetScale{} : out;
    }

    /// The same rows with the means and deviations of `training`.
    std::shared_ptr<const Source> fitted(std::span<const Run> training, bool scale_inputs,
                                         bool scale_targets, Notes& notes) const;

private:
    void count_classes() {
        info_.class_counts.resize(static_cast<std::size_t>(info_.classes));
        for (std::int64_t row = 0; row < rows_->rows; ++row) {
            const std::int32_t found = label(row);
            if (found >= 0) {
                ++info_.class_counts[static_cast<std::size_t>(found)];
            }
        }
    }

    static std::int64_t size_of(const fs::path& path) {
        return File(path, File::Mode::read, ErrorKind::data).size();
    }

    /// The values of rows that follow each other, in memory or read again to `values`.
    const double* rows_from(std::int64_t first, std::int64_t count,
                            std::vector<double>& values) const {
        WEFT_CHECK(first >= 0 && count > 0 && first + count <= rows_->rows,
                   "sample index within the source");
        if (again_ == nullptr) {
            return rows_->values.data() + static_cast<std::size_t>(first) * encoding_->stride();
        }
        const InStage decoding(Stage::decode);
        const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), first);
        again_->read(rows_->marks[static_cast<std::size_t>(after - blocks_.begin() - 1)], first,
                     count, values);
        return values.data();
    }

    void write_row(const double* row, std::span<std::byte> input,
                   std::span<std::byte> target) const {
        std::byte* out = input.data();
        for (std::size_t i = 0; i < encoding_->inputs.size(); ++i) {
            out = encoding_->write(encoding_->inputs[i], row[i], out);
        }
        if (!target.empty()) {
            write_target(row + encoding_->inputs.size(), target);
        }
    }

    void write_target(const double* values, std::span<std::byte> target) const {
        if (encoding_->classify) {
            const auto value = static_cast<std::int32_t>(*values);
            std::memcpy(target.data(), &value, sizeof(value));
            return;
        }
        std::byte* out = target.data();
        for (std::size_t k = 0; k < encoding_->targets.size(); ++k) {
            const Moments& scale = encoding_->targets[k].scale;
            const double standardised = (values[k] - scale.mean) / scale.deviation;
            const auto number = static_cast<float>(std::isnan(values[k]) ? 0 : standardised);
            std::memcpy(out, &number, sizeof(number));
            out += sizeof(number);
        }
    }

    fs::path path_;
    std::shared_ptr<const TableRows> rows_;
    std::shared_ptr<const TableEncoding> encoding_;
    std::shared_ptr<const RowsAgain> again_; // null: the rows are in memory
    std::vector<std::int64_t> blocks_;
    SampleInfo info_;
    std::string fingerprint_;
};

std::shared_ptr<const Source> CsvSource::fitted(std::span<const Run> training, bool scale_inputs,
                                                bool scale_targets, Notes& notes) const {
    auto fit = std::make_shared<TableEncoding>(*encoding_);
    std::vector<MomentsOf> sums(encoding_->stride());
    std::vector<double> values;
    for (const Run& run : training) {
        const double* row = rows_from(run.first, run.samples, values);
        for (std::int64_t i = 0; i < run.samples; ++i, row += sums.size()) {
            for (std::size_t place = 0; place < sums.size(); ++place) {
                if (!std::isnan(row[place])) {
                    sums[place].add(row[place]);
                }
            }
        }
    }
    const auto moments_of = [&](std::size_t place) { return sums[place].moments(); };
    for (std::size_t i = 0; i < fit->inputs.size(); ++i) {
        TableEncoding::Input& input = fit->inputs[i];
        if (input.is_number) {
            const Moments moments = moments_of(i);
            input.fill = fit->missing == TableSettings::Missing::zero ? 0 : moments.mean;
            // Those of a circle stay on it.
            const bool cyclic = input.part != DatePart::none && input.part != DatePart::elapsed;
            input.scale = scale_inputs && !cyclic ? moments : Moments{};
        }
    }
    for (std::size_t k = 0; !fit->classify && scale_targets && k < fit->targets.size(); ++k) {
        Moments& scale = fit->targets[k].scale;
        scale = moments_of(fit->inputs.size() + k);
        notes.push_back(Note::decision("target '" + shown(fit->targets[k].name) +
                                       "' is standardised (mean " + figure_text(scale.mean) +
                                       ", deviation " + figure_text(scale.deviation) +
                                       "): losses are of that scale, errors are in its own units"));
    }
    return std::make_shared<CsvSource>(path_, rows_, std::move(fit), again_);
}

std::vector<std::string> names_in(const Json& value, const char* field) {
    std::vector<std::string> names;
    const bool one = value.is_string();
    if (!one && !value.is_array()) {
        throw Error(ErrorKind::usage, std::string("/data/train/") + field,
                    "it is neither a column's name nor a list of names",
                    "Write \"price\" or [\"price\", \"rent\"].");
    }
    for (const Json& name : one ? Json::array({value}) : value) {
        if (!name.is_string()) {
            throw Error(ErrorKind::usage, std::string("/data/train/") + field,
                        "a column is named by a text, not by " + name.dump(),
                        "Without a header, columns are called \"column 1\", \"column 2\"...");
        }
        names.push_back(name.get<std::string>());
    }
    return names;
}

TableSettings table_settings(const Json& settings, const OpenContext& context) {
    TableSettings out;
    out.path = resolve(context.base_dir, settings.at("path").get<std::string>());
    const auto character = [&](const char* name) -> std::optional<char> {
        const Json& value = settings.at(name);
        return value.is_null() ? std::nullopt
                               : std::optional(value.get_ref<const std::string&>().front());
    };
    out.wishes.separator = character("separator");
    out.wishes.decimal = character("decimal");
    if (const Json& header = settings.at("header"); !header.is_null()) {
        out.wishes.header = header.get<bool>();
    }
    if (const Json& targets = settings.at("targets"); !targets.is_null()) {
        out.targets = names_in(targets, "targets");
    }
    if (const Json& columns = settings.at("columns"); !columns.is_null()) {
        out.columns = names_in(columns, "columns");
    }
    if (const Json& task = settings.at("task"); !task.is_null()) {
        out.classify = task == "classification";
    }
    out.one_hot = settings.at("categories") == "one_hot";
    const auto missing = settings.at("missing").get<std::string>();
    using Missing = TableSettings::Missing;
    out.missing = missing == "mean"   ? Missing::mean
                  : missing == "zero" ? Missing::zero
                  : missing == "drop" ? Missing::drop
                                      : Missing::error;
    out.most_bad = settings.at("most_bad").get<double>();
    std::error_code code;
    if (!fs::is_regular_file(out.path, code)) {
        throw Error(ErrorKind::data, out.path.string(), "there is no such file",
                    "Check data.train.path.");
    }
    return out;
}

config::Field header_field() {
    config::Field field = config::boolean_field(
        "header", false,
        "Whether the first row names the columns; null: if it looks so. Without one they are "
        "\"column 1\", \"column 2\"...");
    field.default_value = nullptr;
    return field.or_null();
}

config::FieldTable csv_fields() {
    return {
        config::path_field("path", nullptr, "Text table with one sample per row.").must_be_given(),
        config::any_field("targets", nullptr,
                          "Column to predict, or a list of them; null: one called target, label, "
                          "class or y, or the last. Texts and up to 20 whole numbers are classes."),
        config::any_field(
            "columns", nullptr,
            "List of the columns that go in; null: numbers, dates, and texts of up to "
            "100 different values. A date goes in as day of week, day of year and "
            "time of day, each as sine and cosine, and as elapsed days."),
        config::choice_field("task", nullptr, {"classification", "regression"},
                             "null: by the target's values.")
            .or_null(),
        config::choice_field("separator", nullptr, {",", ";", "\t", "|"},
                             "null: the one that splits rows evenly.")
            .or_null(),
        header_field(),
        config::choice_field("decimal", nullptr, {".", ","}, "Decimal mark; null: by the numbers.")
            .or_null(),
        config::choice_field("categories", "one_hot", {"one_hot", "index"},
                             "Texts go in as one number per value, 0 or 1, or as their place in "
                             "the sorted list; a missing one as zeros, or -1."),
        config::choice_field(
            "missing", "mean", {"mean", "zero", "drop", "error"},
            "What stands for a missing number or date: the mean of the training samples, "
            "0, or nothing: the row is left out, or refused. A row without its "
            "target is always left out."),
        config::choice_field("scale", "standardize", {"standardize", "none"},
                             "Numbers go in less their mean, divided by their deviation, both of "
                             "the training samples; or as they are."),
        config::choice_field("scale_targets", "standardize", {"standardize", "none"},
                             "The same for numbers to predict: losses and errors are then in "
                             "deviations, predictions in the file's units."),
        config::real_field("most_bad", 0.05,
                           "Share of damaged rows up to which they are named and left out.")
            .range(0, 1)
            .for_experts()};
}

/// What the first pass settles; `notes` says so.
struct Learnt {
    std::shared_ptr<const TableTally> table;
    std::shared_ptr<const TableEncoding> encoding;
    TablePass next; // the reading of the rows that follows
};

Learnt learn(const TableSettings& settings, const OpenContext& context, int passes, Notes& notes) {
    Learnt out;
    const KnownTable known = tally_table(settings.path, settings.wishes, context, passes);
    out.table = known.tally;
    out.next = {.pass = known.was_read ? 2 : 1,
                .passes = known.was_read ? 2 : 1,
                .rows = out.table->rows + out.table->ragged};
    out.encoding = std::make_shared<TableEncoding>(learn_encoding(*out.table, settings, notes));
    return out;
}

/// Of the columns' numbers that go in or are predicted.
void tell_wild(const Learnt& learnt, const Json& given, Notes& notes) {
    const auto tell_column = [&](const std::string& what, std::size_t place, bool standardised) {
        const ColumnTally& column = learnt.table->columns[place];
        const double largest =
            std::abs(column.minimum) > std::abs(column.maximum) ? column.minimum : column.maximum;
        if (std::string wild = wild_finding(what, largest, standardised); !wild.empty()) {
            notes.push_back(std::move(wild));
        }
    };
    for (const TableEncoding::Input& input : learnt.encoding->inputs) {
        if (input.is_number && input.part == DatePart::none) {
            tell_column("numbers of column '" + shown(input.name) + "'", input.place,
                        given.at("scale") == "standardize");
        }
    }
    for (const TableEncoding::Target& target : learnt.encoding->targets) {
        if (!learnt.encoding->classify) {
            tell_column("targets of column '" + shown(target.name) + "'", target.place, true);
        }
    }
}

/// By the size of the file: that of its rows is known once they are read.
bool stream_table(const TableSettings& settings, const OpenContext& context) {
    return streams(File(settings.path, File::Mode::read, ErrorKind::data).size(), context.cache);
}

std::shared_ptr<const Source> open_csv(const Json& given, const OpenContext& context, Part,
                                       Notes& notes) {
    const TableSettings settings = table_settings(given, context);
    auto encoding = std::dynamic_pointer_cast<const TableEncoding>(context.encoding);
    TablePass pass;
    if (encoding == nullptr) {
        const Learnt learnt = learn(settings, context, 2, notes);
        tell_wild(learnt, given, notes);
        encoding = learnt.encoding;
        pass = learnt.next;
    }
    RowReport report;
    const bool in_blocks = stream_table(settings, context);
    auto rows = std::make_shared<TableRows>(
        read_rows(settings.path, settings.wishes, *encoding, context, pass, settings.most_bad,
                  in_blocks ? KeepRows::marks : KeepRows::yes, report));
    tell(report, *encoding, notes);
    auto again = in_blocks ? std::make_shared<const RowsAgain>(settings.path, settings.wishes,
                                                               encoding, context.targets)
                           : nullptr;
    return std::make_shared<CsvSource>(settings.path, std::move(rows), std::move(encoding),
                                       std::move(again));
}

std::shared_ptr<const Source> fit_csv(const std::shared_ptr<const Source>& opened,
                                      const Json& settings, std::span<const Run> training,
                                      const OpenContext&, Notes& notes) {
    const auto* source = dynamic_cast<const CsvSource*>(opened.get());
    WEFT_CHECK(source != nullptr, "csv sources are fitted by csv");
    return source->fitted(training, settings.at("scale") == "standardize",
                          settings.at("scale_targets") == "standardize", notes);
}

/// Whether the pass that learnt the encoding has shown that no row is left out: a second one then
/// has nothing to find.
bool every_row_counts(const TableTally& table, const TableEncoding& encoding) {
    const auto complete = [&](const ColumnTally& column, bool number, bool may_lack) {
        return (!number || column.texts == 0) && (may_lack || column.missing == 0);
    };
    const auto all_dates = [](const ColumnTally& column, bool may_lack) {
        return column.dates.all() == column.values() && (may_lack || column.missing == 0);
    };
    const bool may_lack = encoding.missing == TableSettings::Missing::mean ||
                          encoding.missing == TableSettings::Missing::zero;
    const bool numbers = !encoding.classify || encoding.class_texts.empty();
    return table.rows > 0 && table.ragged == 0 &&
           std::all_of(encoding.inputs.begin(), encoding.inputs.end(),
                       [&](const auto& input) {
                           const ColumnTally& column = table.columns[input.place];
                           return input.part == DatePart::none
                                      ? complete(column, input.is_number, may_lack)
                                      : all_dates(column, may_lack);
                       }) &&
           std::all_of(encoding.targets.begin(), encoding.targets.end(), [&](const auto& target) {
               return complete(table.columns[target.place], numbers, false);
           });
}

/// How often each class is in the table.
std::vector<ClassCount> classes_of(const TableTally& table, const TableEncoding& encoding) {
    std::vector<ClassCount> out;
    if (!encoding.classify) {
        return out;
    }
    for (const std::string& name : encoding.class_names()) {
        out.push_back({name, 0});
    }
    for (const auto& [text, count] : table.columns[encoding.targets.front().place].counts) {
        const auto number = number_of(text, table.layout.decimal);
        const std::string name = encoding.class_numbers.empty() ? text_of(text, table.layout)
                                 : number                       ? number_text(*number)
                                                                : std::string();
        const auto found = std::find_if(out.begin(), out.end(),
                                        [&](const ClassCount& one) { return one.name == name; });
        if (found != out.end()) {
            found->samples += count;
        }
    }
    return out;
}

PartOutline outline_csv(const Json& given, const OpenContext& context, Part, Files) {
    const TableSettings settings = table_settings(given, context);
    Notes notes;
    auto encoding = std::dynamic_pointer_cast<const TableEncoding>(context.encoding);
    std::optional<std::int64_t> known;
    TablePass pass;
    Notes wild;
    std::vector<std::int64_t> class_counts;
    if (encoding == nullptr) {
        const Learnt learnt = learn(settings, context, 1, notes);
        tell_wild(learnt, given, wild);
        encoding = learnt.encoding;
        for (const ClassCount& one : classes_of(*learnt.table, *encoding)) {
            class_counts.push_back(one.samples);
        }
        pass = learnt.next;
        known = every_row_counts(*learnt.table, *encoding) ? std::optional(learnt.table->rows)
                                                           : std::nullopt;
    }
    RowReport report;
    const bool in_blocks = stream_table(settings, context);
    TableRows rows;
    if (known && !in_blocks) {
        rows.rows = *known;
    } else {
        rows =
            read_rows(settings.path, settings.wishes, *encoding, context, pass, settings.most_bad,
                      in_blocks ? KeepRows::marks : KeepRows::only_count, report);
    }
    PartOutline out;
    out.sample = describe_table(settings.path, *encoding, rows.rows);
    if (!in_blocks && encoding->classify) {
        out.sample.class_counts = std::move(class_counts);
    }
    out.samples = rows.rows;
    out.encoding = encoding;
    out.warnings.assign(wild.begin(), wild.end());
    if (!in_blocks) {
        out.cache_bytes =
            rows.rows * static_cast<std::int64_t>(encoding->stride() * sizeof(double));
        return out;
    }
    const std::vector<std::int64_t> blocks = rows.blocks();
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        out.largest_block = std::max(out.largest_block, blocks[i] - blocks[i - 1]);
    }
    return out;
}

Look look_at_csv(const Json& given, const OpenContext& context) {
    const TableSettings settings = table_settings(given, context);
    Look out;
    const KnownTable known = tally_table(settings.path, settings.wishes, context);
    const TableTally& table = *known.tally;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        out.columns.push_back(column_of(table, c));
    }
    const char separator = table.layout.separator;
    out.summary = "Table of " + format_thousands(table.rows) + " rows and " +
                  std::to_string(table.columns.size()) + " columns, separated by " +
                  (separator == '\t' ? std::string("tabs") : std::string("'") + separator + "'") +
                  (table.layout.header ? "" : ", without a header") +
                  (table.layout.decimal == ',' ? ", with decimal commas" : "") +
                  (table.layout.latin1 ? ", read as Windows-1252" : "");
    const TableEncoding encoding = learn_encoding(table, settings, out.notes);
    out.classes = classes_of(table, encoding);
    RowReport report;
    read_rows(settings.path, settings.wishes, encoding, context,
              {.rows = table.rows + table.ragged}, settings.most_bad, KeepRows::only_count, report);
    tell(report, encoding, out.notes);
    return out;
}

bool sniff_csv(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
        return false;
    }
    const std::string ending = path.extension().string();
    const bool named = ending == ".csv" || ending == ".tsv" || ending == ".CSV";
    return named || (ending != ".jsonl" && ending != ".ndjson" && looks_like_table(path));
}

Json propose_csv(const fs::path& path, const OpenContext& context) {
    const auto table = tally_table(path, {}, context).tally;
    TableSettings settings;
    settings.path = path;
    Notes notes;
    const TableEncoding encoding = learn_encoding(*table, settings, notes);
    return {{"train",
             {{"type", "csv"},
              {"path", path.string()},
              {"targets", encoding.targets.front().name},
              {"separator", std::string(1, table->layout.separator)},
              {"header", table->layout.header}}},
            {"validation", {{"split", 0.2}}}};
}

bool csv_has_test(const Json&, const OpenContext&) {
    return false;
}

Json csv_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    settings["header"] = nullptr; // rows to predict often come without one
    return settings;
}

} // namespace

const FormatDef kCsvFormat = {.name = "csv",
                              .help = "Text tables: one row per sample, columns by name.",
                              .split_rule = SplitRule::by_class,
                              .fields = csv_fields,
                              .sniff = sniff_csv,
                              .has_test = csv_has_test,
                              .open = open_csv,
                              .outline = outline_csv,
                              .outline_of_named_files = true,
                              .propose = propose_csv,
                              .look = look_at_csv,
                              .fitted = fit_csv,
                              .for_input = csv_for_input};

} // namespace weft::data

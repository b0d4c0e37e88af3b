// SPDX-License-Identifier: Apache-2.0
// Reading the rows of a table by an encoding.
#include "core/data/tables/table_encoding.h"

#include "core/base/text.h"

#include <algorithm>
#include <limits>

namespace weft::data {
namespace {

using MissingCells = TableSettings::Missing;
using TableTargets = OpenContext::Targets;

constexpr std::int64_t kBytesOfMark = 256 << 10; // of the file between two marks
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

/// Where the columns of an encoding are in a file.
struct Places {
    TableLayout layout;
    std::vector<std::size_t> inputs;
    std::vector<std::size_t> targets; // kAbsent: not there
};

std::size_t find_column(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? kAbsent : static_cast<std::size_t>(found - names.begin());
}

bool all_inputs_named(const TableLayout& layout, const TableEncoding& encoding) {
    return std::all_of(encoding.inputs.begin(), encoding.inputs.end(), [&](const auto& input) {
        return find_column(layout.names, input.name) != kAbsent;
    });
}

[[noreturn]] void columns_differ(const Path& path, const TableLayout& layout,
                                 const TableEncoding& encoding) {
    for (const auto& input : encoding.inputs) {
        if (layout.header && find_column(layout.names, input.name) == kAbsent) {
            throw Error(ErrorKind::data, path.string(),
                        "the column '" + shown(input.name) + "' of the training data is missing",
                        name_hint(input.name, layout.names));
        }
    }
    throw Error(ErrorKind::data, path.string(),
                "rows have " + std::to_string(layout.names.size()) + " fields; those of the " +
                    "training data have " + std::to_string(encoding.layout.names.size()),
                "Give the same columns, or a header with their names.");
}

/// By name where the file has a header with the inputs' names, by place otherwise.
Places find_places(const Path& path, TableWishes wishes, const TableEncoding& encoding,
                   TableTargets needed) {
    Places out;
    wishes.separator = wishes.separator.value_or(encoding.layout.separator);
    wishes.decimal = encoding.layout.decimal;
    if (encoding.layout.header && !wishes.header) {
        wishes.header = true;
        out.layout = find_layout(path, wishes);
        if (!all_inputs_named(out.layout, encoding)) {
            wishes.header.reset();
        }
    }
    out.layout = find_layout(path, wishes);
    const bool by_name = out.layout.header && encoding.layout.header;
    if (by_name ? !all_inputs_named(out.layout, encoding)
                : out.layout.names.size() != encoding.layout.names.size()) {
        columns_differ(path, out.layout, encoding);
    }
    for (const auto& input : encoding.inputs) {
        out.inputs.push_back(by_name ? find_column(out.layout.names, input.name) : input.place);
    }
    for (const auto& target : encoding.targets) {
        out.targets.push_back(by_name ? find_column(out.layout.names, target.name) : target.place);
        if (out.targets.back() == kAbsent && needed == TableTargets::needed) {
            throw Error(ErrorKind::data, path.string(),
                        "the target column '" + shown(target.name) + "' is missing",
                        name_hint(target.name, out.layout.names));
        }
    }
    return out;
}

class RowReader {
public:
    RowReader(const Path& path, const Places& places, const TableEncoding& encoding,
              TableTargets needed, RowReport& report)
        : path_(path), places_(places), encoding_(encoding), needed_(needed), report_(report),
          row_(encoding.stride()) {
        report.missing.assign(encoding.inputs.size(), 0);
        report.unknown.assign(encoding.inputs.size(), 0);
    }

    /// False when the row is left out.
    bool read(const std::vector<std::string>& fields, std::int64_t line) {
        ++report_.read;
        bool complete = true;
        for (std::size_t i = 0; i < encoding_.inputs.size(); ++i) {
            const std::string& cell = fields[places_.inputs[i]];
            if (is_missing(cell)) {
                missing_cell(i, line);
                complete = false;
            } else if (!(encoding_.inputs[i].part == DatePart::none ? read_input(i, cell, line)
                                                                    : read_date(i, cell, line))) {
                return false;
            }
        }
        if (!(encoding_.classify ? read_class(fields, line) : read_numbers(fields, line))) {
            return false;
        }
        if (!complete && encoding_.missing == MissingCells::drop) {
            ++report_.dropped;
            return false;
        }
        count_row();
        return true;
    }

    const std::vector<double>& row() const { return row_; }

private:
    void missing_cell(std::size_t i, std::int64_t line) {
        if (encoding_.missing == MissingCells::error) {
            throw Error(ErrorKind::data, path_.string() + ", line " + format_thousands(line),
                        "the value of '" + shown(encoding_.inputs[i].name) + "' is missing",
                        "Fill it in, or set data.train.missing to mean, zero or drop.");
        }
        row_[i] = encoding_.inputs[i].is_number ? kNone : -1;
    }

    bool read_input(std::size_t i, const std::string& cell, std::int64_t line) {
        const TableEncoding::Input& input = encoding_.inputs[i];
        if (!input.is_number) {
            const std::string text(trim(cell));
            const auto& all = input.categories;
            const auto found = std::lower_bound(all.begin(), all.end(), text);
            const bool known = found != all.end() && *found == text;
            row_[i] = known ? static_cast<double>(found - all.begin()) : kUnknown;
            return true;
        }
        const auto number = number_of(cell, encoding_.layout.decimal);
        if (!number) {
            no_number(input.name, cell, line);
            return false;
        }
        row_[i] = *number;
        return true;
    }

    bool read_date(std::size_t i, const std::string& cell, std::int64_t line) {
        const TableEncoding::Input& input = encoding_.inputs[i];
        if (encoding_.begins_column(i)) { // the other parts follow
            instant_ = instant_of(cell, input.order);
        }
        if (!instant_) {
            report_.bad.add(line, "'" + shown(text_of(cell, places_.layout), 40) + "' in column '" +
                                      shown(input.name) + "' is no date");
            return false;
        }
        row_[i] = part_of(*instant_, input.part);
        return true;
    }

    void no_number(const std::string& name, const std::string& cell, std::int64_t line) {
        report_.bad.add(line, "'" + shown(text_of(cell, places_.layout), 40) + "' in column '" +
                                  shown(name) + "' is no number");
    }

    /// False without a target where one is needed.
    bool without_target() {
        if (needed_ == TableTargets::needed) {
            ++report_.unlabelled;
            return false;
        }
        return true;
    }

    bool read_class(const std::vector<std::string>& fields, std::int64_t line) {
        double& out = row_[encoding_.inputs.size()];
        out = -1;
        const std::size_t place = places_.targets.front();
        if (place == kAbsent || is_missing(fields[place])) {
            return without_target();
        }
        const std::string text(trim(fields[place]));
        const auto at = [&](const auto& values, const auto& value) {
            const auto found = std::lower_bound(values.begin(), values.end(), value);
            return found != values.end() && *found == value
                       ? static_cast<double>(found - values.begin())
                       : -1.0;
        };
        const auto number = number_of(text, encoding_.layout.decimal);
        out = encoding_.class_texts.empty() ? (number ? at(encoding_.class_numbers, *number) : -1)
                                            : at(encoding_.class_texts, text);
        if (out < 0 && needed_ == TableTargets::needed) {
            report_.bad.add(line, "'" + shown(text_of(text, places_.layout), 40) +
                                      "' is no class of the training data");
            return false;
        }
        return true;
    }

    bool read_numbers(const std::vector<std::string>& fields, std::int64_t line) {
        for (std::size_t k = 0; k < encoding_.targets.size(); ++k) {
            double& out = row_[encoding_.inputs.size() + k];
            out = kNone;
            const std::size_t place = places_.targets[k];
            if (place == kAbsent || is_missing(fields[place])) {
                if (!without_target()) {
                    return false;
                }
                continue;
            }
            const auto number = number_of(fields[place], encoding_.layout.decimal);
            if (!number) {
                no_number(encoding_.targets[k].name, fields[place], line);
                return false;
            }
            out = *number;
        }
        return true;
    }

    /// What is missing or unknown in a row that stays.
    void count_row() {
        for (std::size_t i = 0; i < encoding_.inputs.size(); ++i) {
            if (encoding_.inputs[i].is_number) {
                report_.missing[i] += std::isnan(row_[i]) ? 1 : 0;
            } else {
                report_.unknown[i] += row_[i] == kUnknown ? 1 : 0;
                report_.missing[i] += row_[i] == -1 ? 1 : 0;
                row_[i] = std::max(row_[i], -1.0);
            }
        }
    }

    static constexpr double kUnknown = -2;

    const Path& path_;
    const Places& places_;
    const TableEncoding& encoding_;
    TableTargets needed_;
    RowReport& report_;
    std::vector<double> row_;
    std::optional<Instant> instant_; // of the cell that is being read
};

} // namespace

TableRows read_rows(const Path& path, const TableWishes& wishes, const TableEncoding& encoding,
                    const OpenContext& context, const TablePass& pass, double most_bad,
                    KeepRows keep, RowReport& report) {
    const Places places = find_places(path, wishes, encoding, context.targets);
    RowReader reader(path, places, encoding, context.targets, report);
    TableRows out;
    const auto use = [&](const std::vector<std::string>& fields, std::int64_t line,
                         const CsvPlace& place) {
        if (reader.read(fields, line)) {
            if (keep == KeepRows::marks &&
                (out.marks.empty() ||
                 place.offset - out.marks.back().place.offset >= kBytesOfMark)) {
                out.marks.push_back({place, out.rows});
            }
            ++out.rows;
            if (keep == KeepRows::yes) {
                out.values.insert(out.values.end(), reader.row().begin(), reader.row().end());
            }
        }
    };
    for_each_row(path, places.layout, context, pass, report.bad, use);
    const std::int64_t all = report.bad.count + out.rows + report.unlabelled + report.dropped;
    if (static_cast<double>(report.bad.count) > most_bad * static_cast<double>(all)) {
        throw Error(ErrorKind::data, path.string(),
                    format_thousands(report.bad.count) + " of " + format_thousands(all) +
                        " rows cannot be used: " + report.bad.text(),
                    "Repair them, check the separator, or raise data.train.most_bad.");
    }
    if (out.rows == 0) {
        throw Error(ErrorKind::data, path.string(), "no row can be used",
                    report.unlabelled > 0 ? "Every row lacks its target; choose another column."
                                          : "Every row lacks a value; set data.train.missing.");
    }
    out.values.shrink_to_fit();
    return out;
}

std::vector<std::int64_t> TableRows::blocks() const {
    std::vector<std::int64_t> out;
    for (const Mark& mark : marks) {
        out.push_back(mark.row);
    }
    out.push_back(rows);
    return out;
}

struct RowsAgain::Where {
    Places places;
};

RowsAgain::RowsAgain(Path path, const TableWishes& wishes,
                     std::shared_ptr<const TableEncoding> encoding, TableTargets targets)
    : path_(std::move(path)), encoding_(std::move(encoding)),
      where_(std::make_unique<const Where>(Where{find_places(path_, wishes, *encoding_, targets)})),
      targets_(targets) {}

RowsAgain::~RowsAgain() = default;

void RowsAgain::read(const TableRows::Mark& mark, std::int64_t first, std::int64_t rows,
                     std::vector<double>& values) const {
    const TableLayout& layout = where_->places.layout;
    CsvReader table(path_, layout.separator, std::numeric_limits<std::int64_t>::max(), mark.place);
    RowReport ignored;
    RowReader reader(path_, where_->places, *encoding_, targets_, ignored);
    std::vector<std::string> fields;
    values.clear();
    for (std::int64_t row = mark.row; row < first + rows;) {
        if (!table.next(fields)) {
            throw Error(ErrorKind::data, path_.string(),
                        "it has fewer rows than when it was opened",
                        "Leave the file alone while it is used.");
        }
        if (fields.size() != layout.names.size() || !reader.read(fields, table.line())) {
            continue;
        }
        if (row++ >= first) {
            values.insert(values.end(), reader.row().begin(), reader.row().end());
        }
    }
}

void tell(const RowReport& report, const TableEncoding& encoding, Notes& notes) {
    const auto add = [&notes](std::int64_t count, const std::string& text) {
        if (count > 0) {
            notes.push_back(format_thousands(count) + (count == 1 ? " row is" : " rows are") +
                            " left out: " + text);
        }
    };
    add(report.bad.count, report.bad.text());
    add(report.unlabelled, "the target is missing");
    add(report.dropped, "an input is missing");
    for (std::size_t i = 0; i < encoding.inputs.size(); ++i) {
        if (!encoding.begins_column(i)) {
            continue;
        }
        const TableEncoding::Input& input = encoding.inputs[i];
        const std::string column = " in column '" + shown(input.name) + "'";
        if (report.missing[i] > 0) {
            notes.push_back(format_thousands(report.missing[i]) +
                            (report.missing[i] == 1 ? " value is" : " values are") + " missing" +
                            column + ": " +
                            (!input.is_number ? "no category stands for it"
                             : encoding.missing == MissingCells::zero
                                 ? "0 stands for it"
                                 : "the mean of the training samples stands for it"));
        }
        if (report.unknown[i] > 0) {
            notes.push_back(format_thousands(report.unknown[i]) +
                            " values that the training data does not have" + column);
        }
    }
}

} // namespace weft::data

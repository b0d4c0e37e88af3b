// SPDX-License-Identifier: Apache-2.0
// Which columns a table's samples are made of.
#include "core/data/tables/table_encoding.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace weft::data {
namespace {

constexpr std::int64_t kMostCategories = 100; // of a column that nobody asked for
constexpr std::int64_t kMostNumberClasses = 20;

constexpr std::array kTargetNames = {"target", "label",   "class",   "labels",   "targets",
                                     "y",      "species", "outcome", "diagnosis"};

std::string in_quotes(const std::string& name) {
    return "'" + shown(name) + "'";
}

class Learner {
public:
    Learner(const TableTally& table, const TableSettings& settings, Notes& notes)
        : table_(table), settings_(settings), notes_(notes) {
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            columns_.push_back(column_of(table, c));
        }
    }

    TableEncoding learn() {
        if (table_.rows == 0) {
            fail("the table has no rows" +
                     std::string(table_.layout.header ? " below its header" : ""),
                 "Give a file with at least one row.");
        }
        out_.layout = table_.layout;
        out_.one_hot = settings_.one_hot;
        out_.missing = settings_.missing;
        for (const std::size_t place : target_places()) {
            out_.targets.push_back({columns_[place].name, place, {}});
        }
        settle_task();
        settle_inputs();
        return std::move(out_);
    }

private:
    [[noreturn]] void fail(const std::string& text, const std::string& hint) const {
        throw Error(ErrorKind::data, settings_.path.string(), text, hint);
    }

    void decide(std::string text) { notes_.push_back(Note::decision(std::move(text))); }

    std::size_t place_of(const std::string& name, const char* field) const {
        const auto& names = table_.layout.names;
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            throw Error(ErrorKind::data, "/data/train/" + std::string(field),
                        settings_.path.string() + " has no column " + in_quotes(name),
                        name_hint(name, names));
        }
        return static_cast<std::size_t>(found - names.begin());
    }

    /// Of the columns that the settings name, or of one that looks like it.
    std::vector<std::size_t> target_places() {
        std::vector<std::size_t> places;
        for (const std::string& name : settings_.targets) {
            places.push_back(place_of(name, "targets"));
        }
        if (places.empty()) {
            places.push_back(guess_target());
            decide("column " + in_quotes(columns_[places.front()].name) +
                   " is taken as the target");
        }
        return places;
    }

    std::size_t guess_target() const {
        for (const char* name : kTargetNames) {
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                if (lowered(columns_[c].name) == name) {
                    return c;
                }
            }
        }
        for (std::size_t c = columns_.size(); c-- > 0;) {
            if (columns_[c].kind == Column::Kind::number ||
                columns_[c].kind == Column::Kind::category) {
                return c;
            }
        }
        fail("no column can be predicted: none has numbers or texts that come back",
             "Name the target column in data.train.targets.");
    }

    /// A few whole numbers, or texts, are classes.
    bool looks_like_classes(const Column& column) const {
        return column.kind != Column::Kind::number ||
               (column.whole_numbers && column.distinct <= kMostNumberClasses &&
                column.distinct * 2 <= column.values);
    }

    void settle_task() {
        const Column& first = columns_[out_.targets.front().place];
        out_.classify =
            settings_.classify.value_or(out_.targets.size() == 1 && looks_like_classes(first));
        for (const TableEncoding::Target& target : out_.targets) {
            const Column& column = columns_[target.place];
            if (column.kind == Column::Kind::empty) {
                fail("the target column " + in_quotes(target.name) + " has no values",
                     "Choose another target.");
            }
            if (!out_.classify && column.kind != Column::Kind::number) {
                fail("the target column " + in_quotes(target.name) + " holds texts such as " +
                         in_quotes(column.examples.front()) + "; a regression needs numbers",
                     out_.targets.size() > 1 ? "Name one target, or columns of numbers."
                                             : "Set data.train.task to classification.");
            }
        }
        if (out_.classify) {
            settle_classes(first);
        }
    }

    void settle_classes(const Column& column) {
        if (out_.targets.size() > 1) {
            fail("a classification has one target, not " + std::to_string(out_.targets.size()),
                 "Name one column in data.train.targets.");
        }
        const bool numbers = column.kind == Column::Kind::number;
        if (column.distinct > kMostDistinct ||
            (!numbers && column.distinct > 2 && column.distinct * 2 > column.values)) {
            fail("the target column " + in_quotes(column.name) + " has " +
                     (column.distinct > kMostDistinct ? "over " + format_thousands(kMostDistinct)
                                                      : format_thousands(column.distinct)) +
                     " different values in " + format_thousands(column.values) +
                     " rows: too many for classes",
                 numbers ? "Set data.train.task to regression." : "Choose another target.");
        }
        for (const auto& [text, count] : table_.columns[out_.targets.front().place].counts) {
            const auto number = number_of(text, out_.layout.decimal);
            if (!numbers) {
                out_.class_texts.push_back(text);
            } else if (number) {
                out_.class_numbers.push_back(*number);
            }
        }
        auto& values = out_.class_numbers;
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        std::sort(out_.class_texts.begin(), out_.class_texts.end());
        if (values.size() + out_.class_texts.size() < 2) {
            fail("every row has the same value in the target column " + in_quotes(column.name),
                 "Choose a target that varies.");
        }
    }

    bool is_target(std::size_t place) const {
        return std::any_of(out_.targets.begin(), out_.targets.end(),
                           [place](const auto& target) { return target.place == place; });
    }

    /// Why a column that nobody named is no input; empty: it is one.
    std::string reason_against(std::size_t place) const {
        const Column& column = columns_[place];
        const ColumnTally& tally = table_.columns[place];
        if (column.kind == Column::Kind::empty) {
            return "has no values";
        }
        if (column.distinct == 1 && column.missing == 0) {
            return "is the same in every row";
        }
        const std::string name = lowered(column.name);
        const bool named_so = name == "id" || name == "index" || name == "unnamed: 0" ||
                              name == "column " + std::to_string(place + 1);
        if (place == 0 && out_.layout.header && named_so && tally.counts_rows &&
            tally.numbers == table_.rows) {
            return "numbers the rows";
        }
        if (column.unclear_dates && column.kind == Column::Kind::text) {
            return unclear(column);
        }
        if (column.kind == Column::Kind::text ||
            (column.kind == Column::Kind::category && column.distinct > kMostCategories)) {
            return "has " +
                   (column.distinct > kMostDistinct ? "over " + format_thousands(kMostDistinct)
                                                    : format_thousands(column.distinct)) +
                   " different texts";
        }
        return "";
    }

    static std::string unclear(const Column& column) {
        return "has dates whose day and month cannot be told apart, such as " +
               shown(column.examples.front(), 40);
    }

    void settle_inputs() {
        if (settings_.columns) {
            for (const std::string& name : *settings_.columns) {
                const std::size_t place = place_of(name, "columns");
                if (is_target(place)) {
                    throw Error(ErrorKind::data, "/data/train/columns",
                                in_quotes(name) + " is the target", "Leave it out.");
                }
                add_input(place);
            }
        } else {
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                const std::string reason = is_target(c) ? "" : reason_against(c);
                if (!reason.empty()) {
                    decide("column " + in_quotes(columns_[c].name) + " is left out: it " + reason);
                } else if (!is_target(c)) {
                    add_input(c);
                }
            }
        }
        if (out_.inputs.empty()) {
            fail("no column is left to predict from",
                 "Name columns in data.train.columns, or check the separator.");
        }
    }

    /// The parts of a date, each of them a number.
    void add_date(std::size_t place) {
        const Column& column = columns_[place];
        for (const DatePart part : kDateParts) {
            const bool of_day = part == DatePart::day_sine || part == DatePart::day_cosine;
            if (!of_day || column.has_times) {
                TableEncoding::Input input;
                input.name = column.name;
                input.place = place;
                input.part = part;
                input.order = table_.columns[place].dates.order().value_or(DateOrder::day_first);
                out_.inputs.push_back(std::move(input));
            }
        }
        decide("column " + in_quotes(column.name) + " goes in as day of week, day of " +
               (column.has_times ? "year and time of day" : "year") +
               ", each as sine and cosine, and as elapsed days");
    }

    void add_input(std::size_t place) {
        const Column& column = columns_[place];
        if (column.kind == Column::Kind::date) {
            add_date(place);
            return;
        }
        TableEncoding::Input input;
        input.name = column.name;
        input.place = place;
        input.is_number = column.kind == Column::Kind::number || column.kind == Column::Kind::empty;
        if (!input.is_number) {
            if (column.distinct > kMostDistinct && column.unclear_dates) {
                fail("column " + in_quotes(column.name) + " " + unclear(column),
                     "Write them as 2023-04-30, or leave it out of data.train.columns.");
            }
            if (column.distinct > kMostDistinct) {
                fail("column " + in_quotes(column.name) + " has over " +
                         format_thousands(kMostDistinct) +
                         " different texts: too many to tell apart",
                     "Leave it out of data.train.columns.");
            }
            for (const auto& [text, count] : table_.columns[place].counts) {
                input.categories.push_back(text);
            }
            std::sort(input.categories.begin(), input.categories.end());
        }
        out_.inputs.push_back(std::move(input));
    }

    const TableTally& table_;
    const TableSettings& settings_;
    Notes& notes_;
    std::vector<Column> columns_;
    TableEncoding out_;
};

} // namespace

std::int64_t TableEncoding::features() const {
    std::int64_t count = 0;
    for (const Input& input : inputs) {
        count +=
            input.is_number || !one_hot ? 1 : static_cast<std::int64_t>(input.categories.size());
    }
    return count;
}

std::int64_t TableEncoding::columns() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        count += begins_column(i) ? 1 : 0;
    }
    return count;
}

std::byte* TableEncoding::write(const Input& input, double value, std::byte* out) const {
    const auto put = [&out](double number) {
        const auto narrow = static_cast<float>(number);
        std::memcpy(out, &narrow, sizeof(narrow));
        out += sizeof(narrow);
    };
    if (input.is_number) {
        const double number = std::isnan(value) ? input.fill : value;
        put((number - input.scale.mean) / input.scale.deviation);
        return out;
    }
    if (!one_hot) {
        put(value);
        return out;
    }
    for (std::size_t k = 0; k < input.categories.size(); ++k) {
        put(static_cast<double>(k) == value ? 1.0 : 0.0);
    }
    return out;
}

std::vector<std::string> TableEncoding::class_names() const {
    std::vector<std::string> names;
    for (const std::string& text : class_texts) {
        names.push_back(text_of(text, layout));
    }
    for (const double number : class_numbers) {
        names.push_back(number_text(number));
    }
    return names;
}

TableEncoding learn_encoding(const TableTally& table, const TableSettings& settings, Notes& notes) {
    return Learner(table, settings, notes).learn();
}

} // namespace weft::data

// SPDX-License-Identifier: Apache-2.0
#include "core/ir/spec.h"

#include "core/base/error.h"
#include "core/ir/lexer.h"
#include "core/ir/text.h"

#include <set>

namespace weft::ir {
namespace {

std::string join_axes(const std::vector<std::string>& axes) {
    std::string out;
    for (const std::string& axis : axes) {
        out += (out.empty() ? "" : ", ") + quote(axis, '\'');
    }
    return out;
}

std::string dim_text(const std::vector<std::string>& axes) {
    if (axes.empty()) {
        return "None";
    }
    return axes.size() == 1 ? quote(axes.front(), '\'') : "(" + join_axes(axes) + ")";
}

/// Reads axis names and refuses one that the spec already uses.
class AxisReader {
public:
    explicit AxisReader(Lexer& lexer) : lexer_(lexer) {}

    std::string read() {
        if (lexer_.peek().kind != Token::Kind::text) {
            lexer_.fail(
                "a spec entry is None, a mesh axis name in quotes or a tuple of them, not " +
                    describe(lexer_.peek()),
                "write P('data', None)");
        }
        const Token token = lexer_.peek();
        std::string axis = lexer_.next().text;
        if (axis.empty()) {
            lexer_.fail_at(token, "a mesh axis name is empty");
        }
        if (!used_.insert(axis).second) {
            lexer_.fail_at(token, "mesh axis '" + axis + "' is used twice in one spec",
                           "an axis may split one dimension only");
        }
        return axis;
    }

    /// Names up to the closing parenthesis, which is consumed; a trailing comma is allowed.
    std::vector<std::string> read_tuple() {
        std::vector<std::string> axes;
        while (!lexer_.take(")")) {
            axes.push_back(read());
            if (!lexer_.take(",")) {
                lexer_.expect(")");
                break;
            }
        }
        return axes;
    }

    std::vector<std::string> read_dim() {
        if (lexer_.take("None")) {
            return {};
        }
        return lexer_.take("(") ? read_tuple() : std::vector<std::string>{read()};
    }

private:
    Lexer& lexer_;
    std::set<std::string> used_;
};

} // namespace

std::string to_text(const Spec& spec) {
    std::string out = "P(";
    for (std::size_t dim = 0; dim < spec.dims.size(); ++dim) {
        out += (dim > 0 ? ", " : "") + dim_text(spec.dims[dim]);
    }
    out += ")";
    if (!spec.partial.empty()) {
        out += " partial(" + join_axes(spec.partial) + ")";
    }
    return out;
}

Spec read_spec(Lexer& lexer) {
    Spec spec;
    AxisReader axes(lexer);
    lexer.expect("P");
    lexer.expect("(");
    while (!lexer.take(")")) {
        spec.dims.push_back(axes.read_dim());
        if (!lexer.take(",")) {
            lexer.expect(")");
            break;
        }
    }
    if (lexer.take("partial")) {
        lexer.expect("(");
        spec.partial = axes.read_tuple();
    }
    return spec;
}

Spec parse_spec(std::string_view text) {
    Lexer lexer(text);
    Spec spec = read_spec(lexer);
    if (lexer.peek().kind != Token::Kind::end) {
        lexer.fail("unexpected " + describe(lexer.peek()) + " after the spec");
    }
    return spec;
}

} // namespace weft::ir

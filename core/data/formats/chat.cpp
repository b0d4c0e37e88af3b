// SPDX-License-Identifier: Apache-2.0
// chat: one conversation per line, as JSON in any of four layouts (text/chat_templates.h). A
// template makes text of it, the tokenizer tokens of the text, piece by piece: an answer begins
// with a token of its own, as it does when the model is asked for one. A window holds one
// conversation or, packed, several that do not see each other. Kept in memory.
#include "core/data/formats/format_list.h"

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/tables/table.h"
#include "core/data/text/chat_templates.h"
#include "core/data/text/chat_windows.h"
#include "core/data/text/json_lines.h"
#include "core/data/text/text_windows.h"
#include "core/data/text/token_samples.h"

#include <algorithm>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct ChatSettings {
    fs::path path;
    const ChatTemplate* form = nullptr; // null: own
    OwnTemplate own;
    std::string end;
    bool answers_only = true;
    bool truncates = true;
    bool packs = false;
    double most_bad = 0;
    Notes notes; // of the template that was chosen
};

/// The template whose mark the tokenizer has as a token.
const ChatTemplate* template_of(const tokenizer::Tokenizer& tokenizer) {
    const auto found =
        std::find_if(kChatTemplates.begin(), kChatTemplates.end(), [&](const ChatTemplate& known) {
            return !known.mark.empty() && is_one_token(tokenizer, known.mark);
        });
    return found == kChatTemplates.end() ? nullptr : &*found;
}

void choose_template(const Json& settings, const tokenizer::Tokenizer& tokenizer,
                     ChatSettings& out) {
    const auto name = settings.at("template").get<std::string>();
    if (name == "auto") {
        out.form = template_of(tokenizer);
        const bool known = out.form != nullptr;
        out.form = known ? out.form : &kChatTemplates.front();
        out.notes.push_back(Note::decision(
            "template " + std::string(out.form->name) +
            (known ? ", since the tokenizer has its " + std::string(out.form->mark)
                   : ", since the tokenizer shows no other; its marks are text like any other")));
        return;
    }
    for (const ChatTemplate& known : kChatTemplates) {
        if (known.name == name) {
            out.form = &known;
            if (!known.mark.empty() && !is_one_token(tokenizer, known.mark)) {
                out.notes.push_back("the tokenizer has no token " + std::string(known.mark) +
                                    ": the marks of template " + name + " are text like any other");
            }
            return;
        }
    }
    const Json& own = settings.at("own");
    const auto text = [&](const char* part) {
        auto value = own.at(part).get<std::string>();
        const std::size_t place = value.find(kContentMark);
        if (std::string_view(part) != "begin" &&
            (place == std::string::npos ||
             value.find(kContentMark, place + 1) != std::string::npos)) {
            throw Error(ErrorKind::data, "/data/train/own/" + std::string(part),
                        "'" + shown(value) + "' does not hold {content} once",
                        "Write {content} where the text of a message goes. A Jinja chat_template "
                        "is not read: name the template that it is, or write it this way.");
        }
        return value;
    };
    out.own = {text("begin"), text("system"), text("user"), text("assistant")};
}

const tokenizer::Tokenizer& tokenizer_in(const OpenContext& context) {
    static const std::shared_ptr<const tokenizer::Tokenizer> bytes = tokenizer::byte_tokenizer();
    return context.tokenizer == nullptr ? *bytes : *context.tokenizer;
}

ChatSettings chat_settings(const Json& settings, const OpenContext& context) {
    ChatSettings out;
    out.path = resolve(context.base_dir, settings.at("path").get<std::string>());
    std::error_code code;
    if (!fs::is_regular_file(out.path, code)) {
        throw Error(ErrorKind::data, out.path.string(), "there is no such file",
                    "Check data.train.path.");
    }
    require_context(out.path, context.sequence_length);
    const tokenizer::Tokenizer& tokenizer = tokenizer_in(context);
    choose_template(settings, tokenizer, out);
    out.end = end_of_text(tokenizer);
    out.answers_only = settings.at("loss") == "answers";
    out.truncates = settings.at("too_long") == "truncate";
    out.packs = settings.at("pack").get<bool>();
    out.most_bad = settings.at("most_bad").get<double>();
    return out;
}

/// What a file has become.
struct ReadChat {
    ChatTokens chat;
    ChatWindows windows;
    std::int64_t bytes = 0; // of text
    BadLines bad;
    std::int64_t read = 0;       // conversations
    std::int64_t too_long = 0;   // of them
    std::int64_t unanswered = 0; // nothing to learn within the context: left out
};

std::vector<Piece> template_pieces(const std::vector<Message>& messages,
                                   const ChatSettings& settings) {
    return settings.form == nullptr ? own_pieces(messages, settings.own)
                                    : settings.form->pieces(messages, settings.end);
}

class ChatReader {
public:
    ChatReader(const ChatSettings& settings, const OpenContext& context)
        : settings_(settings), tokenizer_(tokenizer_in(context)),
          most_(static_cast<std::size_t>(context.sequence_length) + 1) {}

    void add(const std::vector<Message>& messages) {
        ++out_.read;
        ChatTokens& chat = out_.chat;
        const std::size_t first = chat.tokens.size();
        for (const Piece& piece : template_pieces(messages, settings_)) {
            out_.bytes += std::ssize(piece.text);
            tokenizer_.encode(piece.text, chat.tokens);
            chat.is_learnt.resize(chat.tokens.size(), piece.is_answer || !settings_.answers_only);
        }
        bool stays = true;
        if (chat.tokens.size() - first > most_) {
            ++out_.too_long;
            stays = settings_.truncates;
            cut_to(first + most_);
        }
        const auto learnt = chat.is_learnt.begin() + static_cast<std::ptrdiff_t>(first) + 1;
        if (stays && (chat.tokens.size() < first + 2 ||
                      std::find(learnt, chat.is_learnt.end(), true) == chat.is_learnt.end())) {
            ++out_.unanswered;
            stays = false;
        }
        if (stays) {
            chat.starts.push_back(std::ssize(chat.tokens));
        } else {
            cut_to(first);
        }
    }

    ReadChat& out() { return out_; }

private:
    void cut_to(std::size_t tokens) {
        out_.chat.tokens.resize(tokens);
        out_.chat.is_learnt.resize(tokens);
    }

    const ChatSettings& settings_;
    const tokenizer::Tokenizer& tokenizer_;
    std::size_t most_; // tokens of a conversation
    ReadChat out_;
};

ReadChat read_chat(const ChatSettings& settings, const OpenContext& context) {
    const std::int64_t size = File(settings.path, File::Mode::read, ErrorKind::data).size();
    if (streams(size, Cache::automatic)) {
        throw Error(ErrorKind::data, settings.path.string(),
                    "conversations are kept in memory, and this file has " + format_bytes(size),
                    "Use a file below " + format_bytes(kKeptBytes) + ".");
    }
    ChatReader reader(settings, context);
    ReadChat& out = reader.out();
    OpeningWatch watch(
        context, {.name = settings.path.filename().string(), .unit = "lines", .total_bytes = size});
    for_each_line(settings.path, {}, [&](const Line& line) {
        watch.reached(line.number, line.offset);
        const std::optional<Json> object = object_of(line.text);
        const Conversation found =
            object ? conversation_of(*object) : Conversation{{}, "it is no JSON object"};
        if (!found.problem.empty()) {
            out.bad.add(line.number, found.problem);
        } else {
            reader.add(found.messages);
        }
        return true;
    });
    const std::int64_t all = out.read + out.bad.count;
    if (out.read == 0 ||
        static_cast<double>(out.bad.count) > settings.most_bad * static_cast<double>(all)) {
        throw Error(ErrorKind::data, settings.path.string(),
                    all == 0 ? "the file holds no lines"
                             : format_thousands(out.bad.count) + " of " + format_thousands(all) +
                                   " lines cannot be used: " + out.bad.text(),
                    "Write one conversation per line, e.g. {\"messages\": [{\"role\": \"user\", "
                    "\"content\": \"...\"}, {\"role\": \"assistant\", \"content\": \"...\"}]}.");
    }
    if (out.chat.conversations() == 0 && out.too_long == out.read && !settings.truncates) {
        throw Error(ErrorKind::data, settings.path.string(),
                    "every conversation is longer than the model's context of " +
                        format_thousands(context.sequence_length) + " tokens",
                    "Raise model.context, or set too_long to truncate.");
    }
    if (out.chat.conversations() == 0) {
        throw Error(ErrorKind::data, settings.path.string(),
                    "no conversation has an answer within the model's context of " +
                        format_thousands(context.sequence_length) + " tokens",
                    "Raise model.context, or shorten what comes before the answers.");
    }
    out.windows = settings.packs ? packed(out.chat, context.sequence_length) : each_apart(out.chat);
    return std::move(out);
}

std::string counted(std::int64_t count, const char* one, const char* many) {
    return format_thousands(count) + " " + (count == 1 ? one : many);
}

void tell_chat(const ChatSettings& settings, const ReadChat& read, std::int64_t length,
               Notes& notes) {
    notes.insert(notes.end(), settings.notes.begin(), settings.notes.end());
    if (read.bad.count > 0) {
        notes.push_back(counted(read.bad.count, "line is", "lines are") +
                        " left out: " + read.bad.text());
    }
    if (read.too_long > 0) {
        notes.push_back(counted(read.too_long, "conversation is", "conversations are") +
                        " longer than the context of " + format_thousands(length) + " tokens and " +
                        (settings.truncates ? "cut off" : "left out"));
    }
    if (read.unanswered > 0) {
        notes.push_back(counted(read.unanswered, "conversation has", "conversations have") +
                        " no answer within the context, and " +
                        (read.unanswered == 1 ? "is" : "are") + " left out");
    }
    const std::int64_t positions = read.windows.windows() * length;
    const std::int64_t used = std::ssize(read.chat.tokens) - read.chat.conversations();
    const std::string empty = std::to_string(100 * (positions - used) / positions) + " % of the " +
                              format_thousands(length) + " positions of a window";
    if (settings.packs) {
        notes.push_back(Note::decision(
            counted(read.chat.conversations(), "conversation is", "conversations are") +
            " packed into " + counted(read.windows.windows(), "window", "windows") + ", and " +
            empty + " hold nothing on average"));
    } else if (used < positions / 2) { // each is computed all the same
        notes.push_back(Note::decision("every window holds one conversation, and " + empty +
                                       " hold nothing on average; with pack it holds several"));
    }
}

SampleInfo describe_chat(const ChatSettings& settings, const ReadChat& read,
                         const OpenContext& context) {
    const tokenizer::Tokenizer& tokenizer = tokenizer_in(context);
    SampleInfo info;
    info.input = info.target = {ir::DType::i32, {context.sequence_length}};
    if (settings.packs) {
        info.input.shape = {2, context.sequence_length};
    }
    info.classes = tokenizer.size();
    info.tokenizer = context.tokenizer == nullptr ? tokenizer::byte_tokenizer() : context.tokenizer;
    const std::vector<bool>& learnt = read.chat.is_learnt;
    info.description =
        settings.path.filename().string() + ", " + format_thousands(read.chat.conversations()) +
        " conversations in " + format_thousands(std::ssize(read.chat.tokens)) + " tokens, " +
        format_thousands(std::count(learnt.begin(), learnt.end(), true)) + " of them to learn" +
        (settings.packs ? ", in " + counted(read.windows.windows(), "window", "windows") : "");
    return info;
}

std::shared_ptr<const Source> open_chat(const Json& given, const OpenContext& context, Part,
                                        Notes& notes) {
    const ChatSettings settings = chat_settings(given, context);
    ReadChat read = read_chat(settings, context);
    tell_chat(settings, read, context.sequence_length, notes);
    SampleInfo info = describe_chat(settings, read, context);
    const auto& tokens = read.chat.tokens;
    std::string fingerprint =
        "chat " + info.description + ", " +
        (settings.form == nullptr ? "own" : std::string(settings.form->name)) + ", context " +
        std::to_string(context.sequence_length) + ", crc32c " +
        std::to_string(crc32c({reinterpret_cast<const char*>(tokens.data()),
                               tokens.size() * sizeof(tokenizer::Token)})) +
        (encodes(context) ? tokenizer_mark(context) : "");
    return chat_windows(std::move(read.chat), std::move(read.windows), std::move(info),
                        std::move(fingerprint));
}

PartOutline outline_chat(const Json& given, const OpenContext& context, Part, Files) {
    const ChatSettings settings = chat_settings(given, context);
    const ReadChat read = read_chat(settings, context);
    return {describe_chat(settings, read, context), read.windows.windows(),
            chat_bytes(read.chat, read.windows), ""};
}

/// Before anything is cut off or left out.
std::optional<Lengths> chat_lengths(const Json& given, const OpenContext& context) {
    const ChatSettings settings = chat_settings(given, context);
    const tokenizer::Tokenizer& tokenizer = tokenizer_in(context);
    Lengths out{.things = "conversations",
                .unit = encodes(context) ? "tokens" : "bytes",
                .context = context.sequence_length,
                .beyond = settings.truncates ? Lengths::Beyond::cut_off : Lengths::Beyond::left_out,
                .sharing = settings.packs ? Lengths::Sharing::packed : Lengths::Sharing::apart};
    std::vector<tokenizer::Token> tokens;
    for_each_line(settings.path, {}, [&](const Line& line) {
        end_if_stopped(context.stop);
        out.all = line.offset < kMostMeasuredBytes;
        const std::optional<Json> object = out.all ? object_of(line.text) : std::nullopt;
        const Conversation found = object ? conversation_of(*object) : Conversation{{}, "none"};
        if (found.problem.empty()) {
            tokens.clear();
            for (const Piece& piece : template_pieces(found.messages, settings)) {
                tokenizer.encode(piece.text, tokens);
            }
            out.each.push_back(std::max<std::int64_t>(0, std::ssize(tokens) - 1));
        }
        return out.all;
    });
    return out;
}

config::FieldTable own_fields() {
    return {config::text_field("begin", "", "Comes before the first message."),
            config::text_field("system", "{content}\n\n", "A message of the system."),
            config::text_field("user", "User: {content}\n", "A message of the user."),
            config::text_field("assistant", "Assistant: {content}\n\n",
                               "An answer; what stands behind {content} is learnt with it.")};
}

config::FieldTable chat_fields() {
    std::vector<std::string> names = {"auto"};
    std::string help;
    for (const ChatTemplate& known : kChatTemplates) {
        names.emplace_back(known.name);
        help += std::string(known.name) + ": " + std::string(known.help) + "; ";
    }
    names.emplace_back("own");
    return {
        config::path_field("path", nullptr,
                           "File with one JSON object per line: messages, conversations, "
                           "instruction and output, or prompt and completion.")
            .must_be_given(),
        config::choice_field("template", "auto", names,
                             "How messages become text. " + help +
                                 "own: below; auto: by a token that the tokenizer has."),
        config::object_field("own", own_fields(),
                             "A template of one's own; {content} is the text of a message."),
        config::choice_field("loss", "answers", {"answers", "all"},
                             "What is learnt: the assistant's messages and the end of them, or "
                             "everything."),
        config::choice_field("too_long", "truncate", {"truncate", "drop"},
                             "What becomes of conversations that are longer than the context."),
        config::boolean_field("pack", false,
                              "Several conversations in one window, each with positions of its own "
                              "and blind to the others. Off: one a window."),
        config::real_field("most_bad", 0.05,
                           "Share of lines without a conversation, up to which they are named and "
                           "left out.")
            .range(0, 1)
            .for_experts()};
}

bool sniff_chat(const fs::path& path) {
    std::error_code ignored;
    const std::string ending = path.extension().string();
    if (!fs::is_regular_file(path, ignored) ||
        (ending != ".jsonl" && ending != ".ndjson" && ending != ".json")) {
        return false;
    }
    bool found = false;
    for_each_line(path, {.end = kJsonPieceBytes}, [&](const Line& line) {
        const std::optional<Json> object = object_of(line.text);
        found = object && conversation_of(*object).problem.empty();
        return false;
    });
    return found;
}

Json propose_chat(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "chat"}, {"path", path.string()}}},
            {"validation", {{"split", 0.1}}}};
}

bool chat_has_test(const Json&, const OpenContext&) {
    return false;
}

} // namespace

const FormatDef kChatFormat = {.name = "chat",
                               .help = "Conversations in JSON objects, one per line, of which a "
                                       "language model learns the answers.",
                               .split_rule = SplitRule::by_part,
                               .fields = chat_fields,
                               .sniff = sniff_chat,
                               .has_test = chat_has_test,
                               .open = open_chat,
                               .outline = outline_chat,
                               .outline_of_named_files = true,
                               .propose = propose_chat,
                               .lengths = chat_lengths};

} // namespace weft::data

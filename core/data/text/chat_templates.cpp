// SPDX-License-Identifier: Apache-2.0
// The templates are those of the models' authors: ChatML (OpenAI 2023), Llama 2 and Llama 3 (Meta,
// "Model cards and prompt formats"), Alpaca (Taori et al. 2023).
#include "core/data/text/chat_templates.h"

#include "core/base/text.h"

#include <algorithm>
#include <optional>

namespace weft::data {
namespace {

using config::Json;
using Role = Message::Role;

std::optional<Role> role_named(const std::string& name) {
    struct Known {
        std::string_view name;
        Role role;
    };
    constexpr std::array kRoles = {
        Known{"system", Role::system},       Known{"user", Role::user},
        Known{"assistant", Role::assistant}, Known{"human", Role::user},
        Known{"gpt", Role::assistant},       Known{"model", Role::assistant}};
    const auto found = std::find_if(kRoles.begin(), kRoles.end(),
                                    [&](const Known& known) { return known.name == name; });
    return found == kRoles.end() ? std::nullopt : std::optional(found->role);
}

std::string_view role_name(Role role) {
    return role == Role::system ? "system" : role == Role::user ? "user" : "assistant";
}

const std::string* member_text(const Json& object, std::string_view name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? &found->get_ref<const std::string&>()
                                                       : nullptr;
}

/// The first of these fields that is a text.
const std::string* first_text(const Json& object, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        if (const std::string* text = member_text(object, name)) {
            return text;
        }
    }
    return nullptr;
}

/// Of a list of messages with these fields.
Conversation messages_of(const Json& list) {
    Conversation out;
    for (const Json& entry : list) {
        const std::string number = "message " + std::to_string(out.messages.size() + 1);
        const std::string* role = entry.is_object() ? first_text(entry, {"role", "from"}) : nullptr;
        const std::string* text =
            entry.is_object() ? first_text(entry, {"content", "value"}) : nullptr;
        if (role == nullptr || text == nullptr) {
            return {{}, number + " has no text for its role and its content"};
        }
        const std::optional<Role> known = role_named(*role);
        if (!known) {
            return {{}, number + " is of '" + shown(*role) + "', not of system, user or assistant"};
        }
        out.messages.push_back({*known, *text});
    }
    return out;
}

Conversation answered(const std::string& question, const std::string& input, const Json& object,
                      const std::string& answer) {
    Conversation out;
    if (const std::string* system = member_text(object, "system"); system && !system->empty()) {
        out.messages.push_back({Role::system, *system});
    }
    out.messages.push_back({Role::user, question, input});
    out.messages.push_back({Role::assistant, answer});
    return out;
}

Conversation read_layout(const Json& object) {
    for (const char* name : {"messages", "conversations", "conversation"}) {
        if (const auto found = object.find(name); found != object.end() && found->is_array()) {
            return messages_of(*found);
        }
    }
    const std::string* instruction = member_text(object, "instruction");
    const std::string* output = first_text(object, {"output", "response"});
    if (instruction != nullptr && output != nullptr) {
        const std::string* input = member_text(object, "input");
        return answered(*instruction, input == nullptr ? "" : *input, object, *output);
    }
    const std::string* prompt = member_text(object, "prompt");
    const std::string* completion = first_text(object, {"completion", "response"});
    if (prompt != nullptr && completion != nullptr) {
        return answered(*prompt, "", object, *completion);
    }
    return {{},
            "it has no messages, conversations, instruction with output, or prompt with "
            "completion"};
}

/// What the user says, with what it is about.
std::string user_text(const Message& message) {
    return message.input.empty() ? message.text : message.text + "\n\n" + message.input;
}

/// Stretches of the same kind are one, so that tokens may cross from one to the next.
class Stretches {
public:
    void add(std::string_view text, bool is_answer = false) {
        if (text.empty()) {
            return;
        }
        if (out_.empty() || out_.back().is_answer != is_answer) {
            out_.push_back({"", is_answer});
        }
        out_.back().text += text;
    }
    std::vector<Piece> take() { return std::move(out_); }

private:
    std::vector<Piece> out_;
};

std::vector<Piece> chatml(const std::vector<Message>& messages, const std::string&) {
    Stretches out;
    for (const Message& message : messages) {
        const bool answer = message.role == Role::assistant;
        out.add("<|im_start|>" + std::string(role_name(message.role)) + "\n");
        out.add(user_text(message) + "<|im_end|>", answer);
        out.add("\n");
    }
    return out.take();
}

std::vector<Piece> llama3(const std::vector<Message>& messages, const std::string&) {
    Stretches out;
    out.add("<|begin_of_text|>");
    for (const Message& message : messages) {
        out.add("<|start_header_id|>" + std::string(role_name(message.role)) +
                "<|end_header_id|>\n\n");
        out.add(std::string(trim(user_text(message))) + "<|eot_id|>",
                message.role == Role::assistant);
    }
    return out.take();
}

std::vector<Piece> llama2(const std::vector<Message>& messages, const std::string&) {
    Stretches out;
    std::string system;
    for (const Message& message : messages) {
        if (message.role == Role::system) {
            system += "<<SYS>>\n" + message.text + "\n<</SYS>>\n\n";
        } else if (message.role == Role::user) {
            out.add("<s>[INST] " + system + std::string(trim(user_text(message))) + " [/INST]");
            system.clear();
        } else {
            if (!system.empty()) { // nobody asked
                out.add("<s>[INST] " + system + "[/INST]");
                system.clear();
            }
            out.add(" " + std::string(trim(message.text)) + " </s>", true);
        }
    }
    return out.take();
}

std::vector<Piece> alpaca(const std::vector<Message>& messages, const std::string& end) {
    Stretches out;
    bool begun = false;
    for (const Message& message : messages) {
        if (message.role == Role::assistant) {
            out.add("### Response:\n");
            out.add(message.text + end, true);
            continue;
        }
        if (message.role == Role::system) {
            out.add(message.text + "\n\n");
        } else {
            if (!begun) {
                out.add(message.input.empty()
                            ? "Below is an instruction that describes a task. "
                            : "Below is an instruction that describes a task, paired with an input "
                              "that provides further context. ");
                out.add("Write a response that appropriately completes the request.\n\n");
            }
            out.add("### Instruction:\n" + message.text + "\n\n");
            if (!message.input.empty()) {
                out.add("### Input:\n" + message.input + "\n\n");
            }
        }
        begun = true;
    }
    return out.take();
}

} // namespace

const std::array<ChatTemplate, 4> kChatTemplates = {
    {{"chatml", "turns between im_start and im_end, as Qwen has it", "<|im_start|>", chatml},
     {"llama3", "a header with the role, eot_id behind each turn", "<|start_header_id|>", llama3},
     {"llama2", "[INST] ... [/INST], as Llama 2 and the first Mistral have it", "", llama2},
     {"alpaca", "### Instruction: ... ### Response: ...", "", alpaca}}};

Conversation conversation_of(const Json& object) {
    Conversation out = read_layout(object);
    const bool answers =
        std::any_of(out.messages.begin(), out.messages.end(),
                    [](const Message& message) { return message.role == Role::assistant; });
    if (out.problem.empty() && !answers) {
        out.problem = "no message is of the assistant";
    }
    return out;
}

std::vector<Piece> own_pieces(const std::vector<Message>& messages, const OwnTemplate& own) {
    Stretches out;
    out.add(own.begin);
    for (const Message& message : messages) {
        const std::string& form = message.role == Role::system ? own.system
                                  : message.role == Role::user ? own.user
                                                               : own.assistant;
        const std::size_t place = form.find(kContentMark);
        const bool answer = message.role == Role::assistant;
        out.add(form.substr(0, place));
        out.add(user_text(message), answer);
        out.add(form.substr(place + kContentMark.size()), answer);
    }
    return out.take();
}

bool is_one_token(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
    return tokenizer.encoded(text).size() == 1;
}

std::string end_of_text(const tokenizer::Tokenizer& tokenizer) {
    for (const char* name : {"<|endoftext|>", "<|end_of_text|>", "</s>"}) {
        if (is_one_token(tokenizer, name)) {
            return name;
        }
    }
    return "<|endoftext|>";
}

} // namespace weft::data

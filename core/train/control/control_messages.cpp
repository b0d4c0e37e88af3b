// SPDX-License-Identifier: Apache-2.0
// What clients of a run's socket say, and which of them may command.
#include "core/train/control/control_server.h"
#include "core/train/control/control_socket.h"

#include <utility>

namespace weft::train {
namespace {

std::string member_text(const config::Json& message, const char* key) {
    const auto found = message.find(key);
    return found == message.end() ? std::string()
           : found->is_string()   ? found->get<std::string>()
                                  : found->dump();
}

} // namespace

std::string ControlServer::to_answer(const std::string& id, const std::string& by,
                                     const std::string& command, const std::string& problem) {
    return to_line({0, 0, CommandEvent{id, by, command, problem.empty(), problem}}) + "\n";
}

void ControlServer::take_lines(int descriptor, Client& client) {
    while (const auto line = client.received.next()) {
        if (!std::exchange(client.skipping, false) &&
            line->find_first_not_of(" \t\r") != std::string::npos) {
            take_line(descriptor, client, *line);
        }
    }
    if (client.received.rest() > kMostControlLineBytes) {
        client.received.clear_rest();
        if (!std::exchange(client.skipping, true)) {
            client.to_send +=
                to_answer("", "control", "", "a line of more than 1 MiB is no command");
        }
    }
}

void ControlServer::take_line(int descriptor, Client& client, const std::string& line) {
    const config::Checked read = config::parse_json(line, "command", kCommandLimits);
    if (read.ok() && read.value.is_object() &&
        take_channel_message(descriptor, client, read.value)) {
        return;
    }
    ParsedCommand parsed = parse_command(line);
    if (!parsed.command) {
        const bool has_id = read.ok() && read.value.is_object();
        client.to_send +=
            to_answer(has_id ? member_text(read.value, "id") : "", "control", "", parsed.problem);
        return;
    }
    Command& command = *parsed.command;
    command.by = command.by.empty() ? "control" : command.by;
    if (owner_ >= 0 && owner_ != descriptor) {
        client.to_send += to_answer(command.id, command.by, std::string(command_name(command.kind)),
                                    owner_text());
        return;
    }
    post_(std::move(command));
}

bool ControlServer::take_channel_message(int descriptor, Client& client,
                                         const config::Json& message) {
    const std::string name = member_text(message, "command");
    if (name == "subscribe") {
        subscribe(client, message);
    } else if (name == "claim") {
        claim(descriptor, client, message);
    } else {
        return false;
    }
    return true;
}

void ControlServer::subscribe(Client& client, const config::Json& message) {
    const auto from = message.find("from");
    const bool good =
        from != message.end() && from->is_number_integer() && from->get<std::int64_t>() >= 1;
    client.to_send += to_answer(member_text(message, "id"), member_text(message, "by"), "subscribe",
                                good ? "" : "\"from\" is the number of an event, 1 or more");
    if (good) {
        client.next_seq = from->get<std::int64_t>();
        client.past.reset();
    }
}

void ControlServer::claim(int descriptor, Client& client, const config::Json& message) {
    client.claim_id = member_text(message, "id");
    client.claim_by = member_text(message, "by");
    client.claim_as = member_text(message, "as");
    std::erase(waiting_, descriptor);
    const bool take_over = message.value("take_over", config::Json(false)) == config::Json(true);
    const bool back =
        owner_ >= 0 && !client.claim_as.empty() && clients_.at(owner_).claim_as == client.claim_as;
    if (owner_ >= 0 && owner_ != descriptor && (take_over || back)) {
        const int former = std::exchange(owner_, descriptor);
        if (!back) {
            waiting_.push_front(former);
        }
        Client& before = clients_.at(former);
        before.to_send += to_answer(before.claim_id, before.claim_by, "claim", owner_text());
        flush(former, before); // its end is noticed when it is polled
    } else if (owner_ < 0) {
        owner_ = descriptor;
    } else if (owner_ != descriptor) {
        waiting_.push_back(descriptor);
    }
    client.to_send += to_answer(client.claim_id, client.claim_by, "claim",
                                owner_ == descriptor ? std::string() : owner_text());
}

void ControlServer::pass_control_on() {
    if (owner_ < 0 && !waiting_.empty()) {
        owner_ = waiting_.front();
        waiting_.pop_front();
        Client& client = clients_.at(owner_);
        client.to_send += to_answer(client.claim_id, client.claim_by, "claim", "");
    }
}

std::string ControlServer::owner_text() const {
    const Client& owner = clients_.at(owner_);
    return (owner.claim_by.empty() ? owner.name : owner.claim_by + " (" + owner.name + ")") +
           " controls this run";
}

} // namespace weft::train

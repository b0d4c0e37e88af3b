// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

Json chat_section(const std::filesystem::path& path, const char* more = "{}") {
    Json train = config::json_of(more);
    train.update(Json{{"type", "chat"}, {"path", path.string()}});
    return {{"train", train}, {"validation", nullptr}};
}

/// A sample of bytes: its text, and what of it is learnt.
struct Told {
    std::string text, learnt;
};

/// The last character of a conversation is a target alone, so it is seen where it is learnt.
Told told(const data::Source& source, std::int64_t index) {
    Told out;
    const std::vector<std::int32_t> input = input_integers(source, index);
    const std::vector<std::int32_t> target = target_integers(source, index);
    for (std::size_t i = 0; i < input.size(); ++i) {
        if (input[i] != 0) {
            out.text += static_cast<char>(input[i]);
        }
        if (target[i] >= 0) {
            out.learnt += static_cast<char>(target[i]);
        }
        const bool follows = i + 1 < input.size() && input[i + 1] != 0;
        if (follows && target[i] >= 0 && target[i] != input[i + 1]) {
            qFatal("a target is not the next token");
        }
        if (!follows && target[i] >= 0 && input[i] != 0) {
            out.text += static_cast<char>(target[i]);
        }
    }
    return out;
}

Told first_of(const std::string& lines, const char* settings, std::int64_t context = 400) {
    const Folder folder;
    return told(*open(chat_section(folder.write("a.jsonl", lines), settings), context).train, 0);
}

/// GPT-2's way of a tokenizer with further tokens.
std::string with_marks(const Folder& folder, const std::vector<std::string>& marks) {
    Json document = config::json_of(
        read_file(std::filesystem::path(WEFT_SOURCE_DIR) / "tests/unit/tokenizer/peers/gpt2.json"));
    Json like = document.at("added_tokens").back();
    auto number = static_cast<std::int64_t>(document.at("model").at("vocab").size());
    for (const Json& added : document.at("added_tokens")) {
        number = std::max(number, added.at("id").get<std::int64_t>() + 1);
    }
    for (const std::string& mark : marks) {
        like["id"] = number++;
        like["content"] = mark;
        document["added_tokens"].push_back(like);
    }
    return folder.write("tokenizer.json", document.dump()).string();
}

constexpr const char* kTwoTurns =
    R"({"messages": [{"role": "system", "content": "Be brief."},
{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"},
{"role": "user", "content": "Go"}, {"role": "assistant", "content": "Bye"}]})";

std::string two_turns() {
    std::string out = kTwoTurns;
    std::erase(out, '\n');
    return out + "\n";
}

constexpr const char* kOneTurn =
    R"({"messages": [{"role": "user", "content": "Say it"}, {"role": "assistant", "content": "It"}]})"
    "\n";

} // namespace

class ChatTest : public QObject {
    Q_OBJECT

private slots:
    // Expected texts: OpenAI's ChatML, Meta's prompt formats of Llama 3 and 2, Stanford's Alpaca.
    void templates_write_what_their_authors_say_data() {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("learnt");
        QTest::newRow("chatml") << R"({"template": "chatml"})"
                                << "<|im_start|>system\nBe brief.<|im_end|>\n"
                                   "<|im_start|>user\nHello<|im_end|>\n"
                                   "<|im_start|>assistant\nHi!<|im_end|>\n"
                                   "<|im_start|>user\nGo<|im_end|>\n"
                                   "<|im_start|>assistant\nBye<|im_end|>"
                                << "Hi!<|im_end|>Bye<|im_end|>";
        QTest::newRow("llama3")
            << R"({"template": "llama3"})"
            << "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
               "<|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>"
               "<|start_header_id|>assistant<|end_header_id|>\n\nHi!<|eot_id|>"
               "<|start_header_id|>user<|end_header_id|>\n\nGo<|eot_id|>"
               "<|start_header_id|>assistant<|end_header_id|>\n\nBye<|eot_id|>"
            << "Hi!<|eot_id|>Bye<|eot_id|>";
        QTest::newRow("llama2") << R"({"template": "llama2"})"
                                << "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHello [/INST] Hi! "
                                   "</s><s>[INST] Go [/INST] Bye </s>"
                                << " Hi! </s> Bye </s>";
        QTest::newRow("alpaca") << R"({"template": "alpaca"})"
                                << "Be brief.\n\n### Instruction:\nHello\n\n### Response:\nHi!"
                                   "<|endoftext|>### Instruction:\nGo\n\n### Response:\nBye"
                                   "<|endoftext|>"
                                << "Hi!<|endoftext|>Bye<|endoftext|>";
        QTest::newRow("own")
            << R"({"template": "own", "own": {"begin": "^", "system": "[{content}]",
                                   "user": "Q: {content}\n", "assistant": "A: {content}#"}})"
            << "^[Be brief.]Q: Hello\nA: Hi!#Q: Go\nA: Bye#"
            << "Hi!#Bye#";
    }
    void templates_write_what_their_authors_say() {
        QFETCH(QString, settings);
        QFETCH(QString, text);
        QFETCH(QString, learnt);
        const Told seen = first_of(two_turns(), settings.toUtf8().constData());
        QCOMPARE(QString::fromStdString(seen.text), text);
        QCOMPARE(QString::fromStdString(seen.learnt), learnt);
    }

    void an_instruction_with_an_input_has_a_place_of_its_own_in_alpaca() {
        const Told seen =
            first_of(R"({"instruction": "Name it.", "input": "a dog", "output": "Rex"})"
                     "\n",
                     R"({"template": "alpaca"})");
        QCOMPARE(seen.text,
                 std::string("Below is an instruction that describes a task, paired with an input "
                             "that provides further context. Write a response that appropriately "
                             "completes the request.\n\n### Instruction:\nName it.\n\n### Input:\n"
                             "a dog\n\n### Response:\nRex<|endoftext|>"));
        QCOMPARE(seen.learnt, std::string("Rex<|endoftext|>"));
    }

    void every_layout_is_the_same_conversation_data() {
        QTest::addColumn<QString>("line");
        QTest::newRow("ShareGPT")
            << R"({"conversations": [{"from": "human", "value": "Say it"}, {"from": "gpt", "value": "It"}]})";
        QTest::newRow("instruction") << R"({"instruction": "Say it", "input": "", "output": "It"})";
        QTest::newRow("prompt") << R"({"prompt": "Say it", "completion": "It", "id": 3})";
        QTest::newRow("response") << R"({"prompt": "Say it", "response": "It"})";
    }
    void every_layout_is_the_same_conversation() {
        QFETCH(QString, line);
        const Told expected = first_of(kOneTurn, "{}");
        const Told seen = first_of(line.toStdString() + "\n", "{}");
        QCOMPARE(seen.text, expected.text);
        QCOMPARE(seen.learnt, expected.learnt);
    }

    void what_the_system_says_stays_in_llama_2_where_nobody_asks() {
        const Told seen = first_of(R"({"messages": [{"role": "system", "content": "A"}, )"
                                   R"({"role": "system", "content": "B"}, )"
                                   R"({"role": "assistant", "content": "C"}]})"
                                   "\n",
                                   R"({"template": "llama2"})");
        QCOMPARE(seen.text,
                 std::string("<s>[INST] <<SYS>>\nA\n<</SYS>>\n\n<<SYS>>\nB\n<</SYS>>\n\n[/INST] "
                             "C </s>"));
        QCOMPARE(seen.learnt, std::string(" C </s>"));
    }

    void conversations_that_are_all_too_long_are_said_to_be() {
        const Folder folder;
        const auto path = folder.write("a.jsonl", kOneTurn);
        const auto error =
            error_of([&] { open(chat_section(path, R"({"too_long": "drop"})"), 8); });
        QVERIFY(error && error->text().find("every conversation is longer") == 0);
    }

    void everything_is_learnt_where_that_is_asked_for() {
        const Told seen = first_of(two_turns(), R"({"template": "chatml", "loss": "all"})");
        QCOMPARE(seen.learnt, seen.text.substr(1));
    }

    void long_conversations_are_cut_off_or_left_out_and_counted() {
        const Folder folder;
        const auto path = folder.write(
            "a.jsonl", std::string(R"({"prompt": "x", "completion": "abcdef"})") + "\n" +
                           R"({"prompt": "xxxxxxxxxxxxxxx", "completion": "abcdef"})" + "\n" +
                           R"({"prompt": "x", "completion": "ab"})" + "\n");
        const char* form = R"({"template": "own", "own": {"user": "{content}>",
                               "assistant": "{content}."}, "too_long": "truncate"})";
        data::DataSet set = open(chat_section(path, form), 5);
        QCOMPARE(set.train->samples(), 2);
        QCOMPARE(told(*set.train, 0).text, std::string("x>abcd"));
        QCOMPARE(told(*set.train, 0).learnt, std::string("abcd"));
        QCOMPARE(told(*set.train, 1).learnt, std::string("ab."));
        QVERIFY(noted(set, "2 conversations are longer than the context of 5 tokens and cut off"));
        QVERIFY(noted(set, "1 conversation has no answer within the context, and is left out"));
        const std::string drop =
            std::string(form).replace(std::string(form).find("truncate"), 8, "drop");
        set = open(chat_section(path, drop.c_str()), 5);
        QCOMPARE(set.train->samples(), 1);
        QVERIFY(noted(set, "2 conversations are longer than the context of 5 tokens and left out"));
        QVERIFY(error_of([&] { open(chat_section(path, form), 1); }));
    }

    void batches_count_what_is_learnt() {
        const Folder folder;
        const data::DataSet set = open(chat_section(folder.write("a.jsonl", two_turns() + kOneTurn),
                                                    R"({"template": "chatml"})"),
                                       400);
        data::LoaderOptions options;
        options.batch_size = 2;
        data::Loader loader(set.train, data::Sampler(*set.train, false, 0), options, {});
        // "Hi!", "Bye", "It", and three times the ten characters of <|im_end|>
        QCOMPARE(loader.next()->count, 3.0 + 3 + 2 + 3 * 10);
    }

    // "x>ab." takes 4 positions: its last character is only a target.
    void positions_that_hold_nothing_are_told() {
        const Folder folder;
        const auto path = folder.write("a.jsonl", "{\"prompt\": \"x\", \"completion\": \"ab\"}\n");
        const char* form = R"({"template": "own", "own": {"user": "{content}>",
                               "assistant": "{content}."}})";
        QVERIFY(noted(open(chat_section(path, form), 16),
                      "75 % of the 16 positions of a window hold nothing"));
        QVERIFY(!noted(open(chat_section(path, form), 5), "positions"));
    }

    // Lengths 3, 6, 4, 2 and 5 in windows of 9: 6 + 3, 5 + 4 and 2.
    void conversations_are_packed_where_they_fit_best() {
        const Folder folder;
        std::string lines;
        for (const int length : {3, 6, 4, 2, 5}) {
            lines += Json{{"prompt", std::string(1, static_cast<char>('0' + length))},
                          {"completion", std::string(static_cast<std::size_t>(length), 'x')}}
                         .dump() +
                     "\n";
        }
        const auto path = folder.write("a.jsonl", lines);
        const data::DataSet set =
            open(chat_section(path, R"({"pack": true, "template": "own", "own": {
                                        "user": "{content}", "assistant": "{content}"}})"),
                 9);
        QCOMPARE(set.train->samples(), 3);
        QCOMPARE(set.train->info().input.shape, (ir::Shape{2, 9}));
        QVERIFY(noted(set, "5 conversations are packed into 3 windows, and 25 % of the 9"));
        const auto zeros = [](std::vector<std::int32_t> known) {
            known.resize(known.size() + (9 - known.size() % 9) % 9, 0);
            return known;
        };
        // Of each character the next: the last is a target alone.
        const auto window = [&](std::vector<int> lengths) {
            std::vector<std::int32_t> tokens, positions, next;
            for (const int length : lengths) {
                for (int i = 0; i < length; ++i) {
                    tokens.push_back(i == 0 ? '0' + length : 'x');
                    positions.push_back(i);
                    next.push_back('x');
                }
            }
            next.resize(9, -1);
            std::vector<std::int32_t> input = zeros(tokens);
            const std::vector<std::int32_t> behind = zeros(positions);
            input.insert(input.end(), behind.begin(), behind.end());
            return std::pair(input, next);
        };
        const std::vector<std::vector<int>> expected = {{6, 3}, {5, 4}, {2}};
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto index = static_cast<std::int64_t>(i);
            const auto [input, next] = window(expected[i]);
            QCOMPARE(input_integers(*set.train, index), input);
            QCOMPARE(target_integers(*set.train, index), next);
        }
    }

    void bad_lines_are_named_counted_and_left_out() {
        std::string lines = R"({"messages": [{"role": "tool", "content": "x"}]})"
                            "\n{\"text\": \"x\"}\n"
                            R"({"messages": [{"role": "user", "content": "x"}]})"
                            "\n"
                            R"({"messages": [{"role": "user", "content": null}]})"
                            "\n";
        const Folder folder;
        auto path = folder.write("a.jsonl", lines + kOneTurn);
        const data::DataSet set = open(chat_section(path, R"({"most_bad": 0.9})"), 100);
        QVERIFY(noted(set, "4 lines are left out: line 1: message 1 is of 'tool', not of system, "
                           "user or assistant; line 2: it has no messages"));
        QVERIFY(noted(set, "line 3: no message is of the assistant"));
        const auto error = error_of([&] { open(chat_section(path), 100); });
        QVERIFY(error && error->text().find("4 of 5 lines") == 0);
    }

    void an_own_template_without_a_place_for_the_content_is_refused() {
        const Folder folder;
        const auto path = folder.write("a.jsonl", kOneTurn);
        const auto error = error_of([&] {
            open(chat_section(path, R"({"template": "own", "own": {"user": "User"}})"), 100);
        });
        QVERIFY(error && error->where() == "/data/train/own/user");
    }

    void a_file_of_conversations_is_recognised() {
        const Folder folder;
        const auto type_of = [](const std::filesystem::path& path) {
            data::OpenContext context;
            context.sequence_length = 100;
            return data::recognise(path, context).formats.front().format;
        };
        QCOMPARE(type_of(folder.write("a.jsonl", kOneTurn)), std::string("chat"));
        QCOMPARE(type_of(folder.write("b.jsonl", "{\"text\": \"x\"}\n")), std::string("jsonl"));
    }

    void a_tokenizer_shows_its_template_and_keeps_its_marks_whole_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("mark");
        QTest::addColumn<QString>("end");
        QTest::newRow("chatml") << "chatml"
                                << "<|im_start|>"
                                << "<|im_end|>";
        QTest::newRow("llama3") << "llama3"
                                << "<|start_header_id|>"
                                << "<|eot_id|>";
    }
    void a_tokenizer_shows_its_template_and_keeps_its_marks_whole() {
        QFETCH(QString, name);
        QFETCH(QString, mark);
        QFETCH(QString, end);
        const Folder folder;
        Json section = chat_section(folder.write("a.jsonl", kOneTurn));
        section["tokenizer"] = with_marks(folder, {mark.toStdString(), end.toStdString()});
        const data::DataSet set = open(section, 64);
        QVERIFY(noted(set, "template " + name.toStdString() + ", since the tokenizer has its " +
                               mark.toStdString()));
        const std::vector<std::int32_t> input = input_integers(*set.train, 0);
        const auto known = set.train->info().tokenizer->encoded(mark.toStdString());
        QCOMPARE(known.size(), std::size_t(1));
        QCOMPARE(std::count(input.begin(), input.end(), known.front()), 2);
        std::vector<std::int32_t> learnt;
        for (const std::int32_t token : target_integers(*set.train, 0)) {
            if (token >= 0) {
                learnt.push_back(token);
            }
        }
        QCOMPARE(set.train->info().tokenizer->decoded(learnt), "It" + end.toStdString());
    }
};

WEFT_TEST(ChatTest)
#include "chat_test.moc"

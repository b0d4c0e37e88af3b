// SPDX-License-Identifier: Apache-2.0
// What nvcc and NVRTC make of the kernels for each architecture, as ptxas tells it. No GPU takes
// part.
#include "kernels/cuda/group_source.h"
#include "kernels/cuda/wrappers/compiler.h"
#include "tests/kernels/cases/cases.h"
#include "tests/kernels/vendor/ptxas.h"

using namespace weft;
using test::Usage;
using test::Usages;

namespace {

constexpr const char* kCapabilities[] = {"80", "90", "100"};

/// [architecture] of every report that the build has left.
std::map<QString, Usages> usages_of_written_kernels() {
    std::map<QString, Usages> all;
    const QDir folder(WEFT_CUDA_REPORTS);
    for (const QString& name : folder.entryList({"*.ptxas"})) {
        QFile file(folder.filePath(name));
        if (file.open(QFile::ReadOnly)) {
            test::add_usages(QString::fromUtf8(file.readAll()), all);
        }
    }
    return all;
}

/// Every elementwise kernel that the case table needs, by name.
std::map<std::string, std::string> generated_texts() {
    std::map<std::string, std::string> texts;
    for (const test::Case& c : test::kernel_cases()) {
        if (test::is_elementwise(c.call.kind)) {
            test::Description description(c.call);
            const auto group = kernels::cuda::group_source(kernels::Op(*description.get()));
            texts[group.name] = group.text;
        }
    }
    return texts;
}

} // namespace

class CudaCompiled : public QObject {
    Q_OBJECT

private slots:
    void every_architecture_has_the_same_kernels() {
        const auto all = usages_of_written_kernels();
        QCOMPARE(all.size(), std::size(kCapabilities));
        for (const char* capability : kCapabilities) {
            const QString architecture = QString("sm_") + capability;
            QVERIFY2(all.count(architecture) == 1, capability);
            QCOMPARE(all.at(architecture).size(), all.begin()->second.size());
        }
        QVERIFY(all.begin()->second.size() > 50);
    }

    // The table that a change of a kernel shows in: -v2 prints it.
    void no_written_kernel_spills_or_needs_too_much() {
        for (const auto& [architecture, kernels] : usages_of_written_kernels()) {
            for (const auto& [name, usage] : kernels) {
                const QString wrong = test::wrong_with(architecture, name, usage);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            }
        }
    }

    void no_generated_kernel_spills_or_needs_too_much_data() {
        QTest::addColumn<QString>("capability");
        for (const char* capability : kCapabilities) {
            QTest::newRow(capability) << QString(capability);
        }
    }
    // All of them in one text, which takes the compiler a tenth of the time.
    void no_generated_kernel_spills_or_needs_too_much() {
        QFETCH(QString, capability);
        const auto texts = generated_texts();
        std::string all;
        for (const auto& [name, text] : texts) {
            all += text;
        }
        const kernels::cuda::MachineCode made =
            kernels::cuda::machine_code(all, capability.toStdString());
        QVERIFY(made.code.size() > texts.size() * 100);
        std::map<QString, Usages> usages;
        test::add_usages(QString::fromStdString(made.report), usages);
        QCOMPARE(usages.size(), std::size_t{1});
        QCOMPARE(usages.begin()->second.size(), texts.size());
        for (const auto& [name, usage] : usages.begin()->second) {
            QVERIFY2(texts.count(name.toStdString()) == 1, qPrintable(name));
            const QString wrong = test::wrong_with("sm_" + capability, name, usage);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }

    void what_the_compiler_does_not_understand_is_told_with_its_words() {
        try {
            kernels::cuda::machine_code("WEFT_KERNEL broken( {}", "90");
            QFAIL("compiled");
        } catch (const kernels::Failure& failure) {
            QCOMPARE(failure.status, WEFT_LIBRARY_ERROR);
            QVERIFY2(failure.text.find("group.cu") != std::string::npos, failure.text.c_str());
        }
    }

    void the_compiler_says_what_its_code_hangs_on() {
        const std::string identity = kernels::cuda::compiler_identity();
        QVERIFY(identity.starts_with("NVRTC 1"));
        QVERIFY(identity.find("--fmad=false") != std::string::npos);
        QVERIFY(identity.find("ew_gelu") != std::string::npos); // a function of the headers
    }
};

WEFT_TEST(CudaCompiled)
#include "compiled_test.moc"

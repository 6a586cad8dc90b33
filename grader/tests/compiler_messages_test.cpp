// SPDX-License-Identifier: Apache-2.0
// What compilers say of a text: read line by line, and told in plain words.
#include "runner/compiler_messages.h"

#include <gtest/gtest.h>

#include "runner/build.h"

namespace odori::grader {
namespace {

TEST(CompilerMessages, LinesOfAnyLengthAreRead) {
  const std::string long_text(300'000, 'a');
  for (const std::string& line :
       {"blank_2:1:1: " + long_text, "blank_2:1:1: error: " + long_text, long_text + ":1:1: error: b",
        "blank_2:1:1: Error:" + long_text, "blank_2:1:1: " + std::string(300'000, ' ')})
    for (const CompileError& error : read_errors(line + "\nblank_3:2:3: error: last\n")) {
      EXPECT_LT(error.message.size(), 1000u);
    }
  const auto errors = read_errors("blank_2:1:1: " + long_text + "\nblank_3:2:3: fatal error: last\n");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].blank, 3);
  EXPECT_EQ(errors[0].line, 2);
  EXPECT_EQ(errors[0].column, 3);
  EXPECT_EQ(errors[0].message, "last");
}

TEST(CompilerMessages, NamesAreInTheLearnersCharacters) {
  const auto message_of = [](const std::string& message) {
    return read_errors("blank_2:1:1: error: " + message).at(0).message;
  };
  EXPECT_EQ(message_of("'\\U0000901a\\U00004fe1' was not declared in this scope"),
            "'通信' was not declared in this scope");
  for (const char* other :
       {"\\U0000", "\\U0000d800", "\\U00110000", "\\Uffffffff", "\\U-0000001", "\\Uzzzzzzzz", "\\U"})
    EXPECT_EQ(message_of(other), other);
}

TEST(CompilerMessages, ASemicolonBeforeWhichAnythingElseIsMissingIsThere) {
  EXPECT_EQ(plain_words_for("expected ',' or ';' before 'const'", "")->key, "compile_semicolon_missing");
  EXPECT_FALSE(plain_words_for("expected primary-expression before ';' token", ""));
}

TEST(CompilerMessages, LinkersNameWhatIsNowhere) {
  const auto errors = read_link_errors(
      "/usr/bin/ld: /tmp/7_6.o: in function `main':\n"
      "7_6.cpp:(.text+0x932): undefined reference to `pick(odori::Classifier&)'\n"
      "ld.lld: error: undefined symbol: pick(int)\n"
      "7_6.cpp:(.text+0x9): undefined reference to `vtable for Mine'\n"
      "collect2: error: ld returned 1 exit status\n");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].message, "undefined reference to 'pick(Classifier&)'");
  EXPECT_EQ(errors[1].message, "undefined reference to 'pick(int)'");
  EXPECT_EQ(plain_words_for(errors[2].message, "")->values.at("name"), "vtable for Mine");
  EXPECT_TRUE(read_link_errors("ld: cannot find -lodori\nundefined").empty());
}

TEST(CompilerMessages, NumbersThatNoLineHasAreNoPlaces) {
  EXPECT_TRUE(read_errors("blank_2:99999999999999999999:1: error: x\n").empty());
  EXPECT_TRUE(read_errors("blank_2:-1:1: error: x\nblank_2::1: error: x\nblank_2: error: x\n:1:1: error: x\n").empty());
  EXPECT_EQ(read_errors("blank_2:5: error: x\n").at(0).column, 0);
  EXPECT_EQ(read_errors("blank_x:5:1: error: x\n").at(0).blank, 0);
}

/// What g++ 12 and clang++ 14 say.
TEST(CompilerMessages, OfBothCompilersMeanTheSame) {
  struct Said {
    const char *message, *notes, *key, *name, *value;
  };
  for (
      const Said& said : std::initializer_list<Said>{
          {"use of deleted function 'std::unique_ptr<_Tp, _Dp>::unique_ptr(const std::unique_ptr<_Tp, _Dp>&) [with "
           "_Tp = "
           "odori::Evaluator; _Dp = std::default_delete<odori::Evaluator>]'",
           "declared here\n", "compile_move_forgotten", "", ""},
          {"call to deleted constructor of 'std::unique_ptr<Evaluator>'", "", "compile_move_forgotten", "", ""},
          {"invalid initialization of reference of type 'odori::Communicator&' from expression of type 'const "
           "std::unique_ptr<odori::Communicator>'",
           "", "compile_star_forgotten", "type", "Communicator"},
          {"no matching function for call to 'scatter_dataset'",
           "candidate function not viable: no known conversion from 'const std::unique_ptr<Communicator>' to "
           "'odori::Communicator &' for 2nd argument\n",
           "compile_star_forgotten", "type", "Communicator"},
          {"conversion from 'odori::ParallelUpdater*' to non-scalar type 'std::unique_ptr<odori::Updater>' requested",
           "", "compile_make_unique_forgotten", "type", "ParallelUpdater"},
          {"could not convert 'odori::MomentumSGD(((float)args.odori::Arguments::learnrate), 8.99999976e-1f)' from "
           "'odori::MomentumSGD' to 'std::unique_ptr<odori::Optimizer>'",
           "", "compile_make_unique_forgotten", "wanted", "std::unique_ptr<Optimizer>"},
          {"no viable conversion from 'odori::ParallelUpdater *' to 'std::unique_ptr<Updater>'", "",
           "compile_make_unique_forgotten", "type", "ParallelUpdater"},
          {"no matching function for call to 'create_multi_node_optimizer'",
           "candidate function not viable: no known conversion from 'odori::MomentumSGD' to "
           "'std::unique_ptr<Optimizer>' "
           "for 1st argument\n",
           "compile_make_unique_forgotten", "type", "MomentumSGD"},
          {"cannot convert 'std::string' {aka 'std::__cxx11::basic_string<char>'} to 'const int' in initialization", "",
           "compile_type_differs", "wanted", "int"},
          {"'regex' is not a member of 'std'", "", "compile_unknown_std", "name", "regex"},
          {"no type named 'regex' in namespace 'std'", "", "compile_unknown_std", "name", "regex"},
          {"'train_iter' was not declared in this scope; did you mean 'train_iters'?", "", "compile_misspelt", "near",
           "train_iters"},
          {"use of undeclared identifier 'train_iter'; did you mean 'train_iters'?", "", "compile_misspelt", "name",
           "train_iter"},
          {"'const struct odori::Arguments' has no member named 'learningrate'; did you mean 'learnrate'?", "",
           "compile_misspelt", "name", "learningrate"},
          {"no member named 'learningrate' in 'odori::Arguments'; did you mean 'learnrate'?", "", "compile_misspelt",
           "near", "learnrate"},
          {"'const struct odori::Arguments' has no member named 'x'", "", "compile_no_member", "type", "Arguments"},
          {"no member named 'x' in 'odori::Arguments'", "", "compile_no_member", "name", "x"},
          {"'const class std::unique_ptr<odori::Communicator>' has no member named 'intra_rank'", "",
           "compile_arrow_needed", "type", "Communicator"},
          {"request for member 'rank' in 'p', which is of pointer type 'odori::Communicator*' (maybe you meant to use "
           "'->' ?)",
           "", "compile_arrow_needed", "name", "rank"},
          {"base operand of '->' has non-pointer type 'odori::TrainTest'", "", "compile_dot_needed", "type",
           "TrainTest"},
          {"member reference type 'odori::TrainTest' is not a pointer; did you mean to use '.'?", "",
           "compile_dot_needed", "type", "TrainTest"},
          {"no match for 'operator*' (operand type is 'odori::MomentumSGD')", "", "compile_star_needless", "type",
           "MomentumSGD"},
          {"invalid type argument of unary '*' (have 'int')", "", "compile_star_needless", "type", "int"},
          {"'True' was not declared in this scope", "", "compile_python", "cpp", "true"},
          {"use of undeclared identifier 'None'", "", "compile_python", "cpp", "nullptr"},
          {"lvalue required as left operand of assignment", "", "compile_equals_doubled", "", ""},
          {"'MPI_FLOAT' was not declared in this scope; did you mean 'MAXFLOAT'?", "", "compile_unknown_name", "name",
           "MPI_FLOAT"},
          {"'rank' was not declared in this scope", "suggested alternatives:\n  'std::rank'\n", "compile_unknown_name",
           "name", "rank"},
          {"could not convert 'x' from 'std::remove_reference<odori::Evaluator&>::type' to "
           "'std::unique_ptr<odori::Evaluator>'",
           "", "compile_make_unique_forgotten", "type", "Evaluator"},
          {"could not convert 'std::move<odori::Evaluator&>((* & evaluator.std::unique_ptr<odori::Evaluator>::"
           "operator*()))' from 'std::remove_reference<odori::Evaluator&>::type' {aka 'odori::Evaluator'} to "
           "'std::unique_ptr<odori::Evaluator>'",
           "", "compile_object_moved", "wanted", "std::unique_ptr<Evaluator>"},
          {"use of undeclared identifier 'x'", "", "compile_unknown_name", "name", "x"},
          {"'string' was not declared in this scope",
           "suggested alternatives:\n  'std::string'\n  'std::pmr::string'\n", "compile_misspelt", "near",
           "std::string"},
          {"redeclaration of 'std::map<std::__cxx11::basic_string<char>, int> other_devices'",
           "previously declared here\n", "compile_declared_twice", "name", "other_devices"},
          {"conflicting declaration 'int devices'", "", "compile_declared_twice", "name", "devices"},
          {"redefinition of 'devices' with a different type: 'int' vs 'float'", "", "compile_declared_twice", "name",
           "devices"},
          {"control reaches end of non-void function [-Werror=return-type]", "", "compile_no_return", "", ""},
          {"non-void function does not return a value in all control paths [-Werror,-Wreturn-type]", "",
           "compile_no_return", "", ""},
          {"expected ',' or ';' before 'const'", "", "compile_semicolon_missing", "", ""},
          {"expected ';' at end of declaration", "", "compile_semicolon_missing", "", ""},
          {"too few arguments to function 'odori::DatasetPtr odori::scatter_dataset(const DatasetPtr&, Communicator&, "
           "const ScatterOptions&)'",
           "declared here\n", "compile_wrong_arguments", "signature",
           "DatasetPtr scatter_dataset(const DatasetPtr&, Communicator&, const ScatterOptions&)"},
          {"no matching function for call to "
           "'odori::ParallelUpdater::ParallelUpdater(std::vector<odori::SerialIterator>&, "
           "odori::MomentumSGD&)'",
           "candidate: 'odori::ParallelUpdater::ParallelUpdater(std::vector<odori::SerialIterator>, "
           "odori::Optimizer&)'\n"
           "  candidate expects 5 arguments, 2 provided\n",
           "compile_wrong_arguments", "signature",
           "ParallelUpdater::ParallelUpdater(std::vector<SerialIterator>, Optimizer&)"},
          {"no matching function for call to 'odori::SerialIterator::SerialIterator(odori::DatasetPtr&)'",
           "candidate: 'odori::SerialIterator::SerialIterator(const odori::SerialIterator&)'\n"
           "  no known conversion for argument 1 from 'odori::DatasetPtr' to 'const odori::SerialIterator&'\n"
           "candidate: 'odori::SerialIterator::SerialIterator(odori::DatasetPtr, int, const odori::IteratorOptions&)'\n"
           "  candidate expects 3 arguments, 1 provided\n",
           "compile_wrong_arguments", "signature",
           "SerialIterator::SerialIterator(DatasetPtr, int, const IteratorOptions&)"},
          {"no matching function for call to 'odori::SerialIterator::SerialIterator(const int&, odori::DatasetPtr&)'",
           "candidate: 'odori::SerialIterator::SerialIterator(odori::SerialIterator&&)'\n"
           "  candidate expects 1 argument, 2 provided\n"
           "candidate: 'odori::SerialIterator::SerialIterator(odori::DatasetPtr, int, const odori::IteratorOptions&)'\n"
           "  no known conversion for argument 1 from 'const int' to 'odori::DatasetPtr' {aka 'std::shared_ptr<const "
           "odori::Dataset>'}\n",
           "compile_argument_differs", "given", "int"},
          {"invalid initialization of reference of type 'const odori::DatasetPtr&' {aka 'const std::shared_ptr<const "
           "odori::Dataset>&'} from expression of type 'odori::Communicator'",
           "in passing argument 1 of 'odori::DatasetPtr odori::scatter_dataset(const DatasetPtr&, Communicator&, "
           "const ScatterOptions&)'\n",
           "compile_argument_differs", "signature",
           "DatasetPtr scatter_dataset(const DatasetPtr&, Communicator&, const ScatterOptions&)"},
          {"could not convert 'comm.std::unique_ptr<odori::Communicator>::operator*()' from 'odori::Communicator' to "
           "'std::unique_ptr<odori::Optimizer>'",
           "", "compile_type_differs", "given", "Communicator"},
          {"could not convert 'o' from 'unique_ptr<odori::MomentumSGD,default_delete<odori::MomentumSGD>>' to "
           "'unique_ptr<odori::Optimizer,default_delete<odori::Optimizer>>'",
           "", "compile_pointer_differs", "given", "MomentumSGD"},
          {"could not convert 'std::move<unique_ptr<odori::Evaluator>&>((* & evaluator))' from "
           "'unique_ptr<odori::Evaluator>' to 'unique_ptr<odori::Optimizer>'",
           "", "compile_type_differs", "wanted", "std::unique_ptr<Optimizer>"},
          {"cannot bind non-const lvalue reference of type 'odori::Optimizer&' to an rvalue of type 'odori::Optimizer'",
           "initializing argument 2 of 'odori::ParallelUpdater::ParallelUpdater(std::vector<odori::SerialIterator>, "
           "odori::Optimizer&)'\n",
           "compile_temporary", "type", "Optimizer"}}) {
    const auto finding = plain_words_for(said.message, said.notes);
    ASSERT_TRUE(finding) << said.message;
    EXPECT_EQ(finding->key, said.key) << said.message;
    EXPECT_EQ(*said.name ? finding->values.at(said.name) : "", said.value) << said.message;
  }
  EXPECT_FALSE(plain_words_for("expected primary-expression before 'int'", ""));
  EXPECT_FALSE(plain_words_for("'", "'"));
}

}  // namespace
}  // namespace odori::grader

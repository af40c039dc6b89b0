// What the changed kernels of a mutation run ask: which alternative of which place is active.
#pragma once

#include <cmath>
#include <type_traits>

namespace fh_m {

inline int active = 0;  // number of the mutant, 0 none

inline bool is(int id) {
  return active == id;
}
inline int off(int id) {
  return active == id ? 1 : (active == id + 1 ? -1 : 0);
}

template <class T, class... Other>
T pick(int id, T value, Other... other) {
  int n = id;
  ((value = active == n++ ? static_cast<T>(other) : value), ...);
  return value;
}
template <class T>
int next(int id, T value) {
  return static_cast<int>(value) + (active == id ? 1 : 0);
}
template <class T>
T minus(int id, T value) {
  return active == id ? static_cast<T>(-value) : value;
}
template <class T>
T none(int id, T value) {
  return active == id ? T{} : value;
}
template <class T>
T result(int id, T value) {
  return active == id ? T{} : value;
}
template <class T>
void step(int id, T& value) {
  value = static_cast<T>(value + (active == id ? 2 : 1));
}
template <class T, class U>
auto maximum(int id, T a, U b) {
  return (active == id ? b < a : a < b) ? b : a;
}
template <class T, class U>
auto minimum(int id, T a, U b) {
  return (active == id ? b > a : b < a) ? b : a;
}
#define FH_MUTANT_CALL(name)                             \
  template <class T>                                     \
  T name(int id, T x) {                                  \
    return active == id ? x : static_cast<T>(::name(x)); \
  }
FH_MUTANT_CALL(fabs)
FH_MUTANT_CALL(fabsf)
FH_MUTANT_CALL(sqrt)
FH_MUTANT_CALL(log)
FH_MUTANT_CALL(log10)

// `word`, or a number that no label has when the label of the active mutant is met.
template <class T, class... Labels>
int hide(int id, T word, Labels... labels) {
  int n = id, result = static_cast<int>(word);
  ((result = active == n++ && static_cast<int>(labels) == static_cast<int>(word) ? 1'000'000 : result), ...);
  return result;
}

// a < Op{id} < b: the left half keeps a, the right one decides. Precedence and association are those of the operator.
struct Op {
  int id;
};
template <class A>
struct Left {
  A a;
  int id;
};

#define FH_MUTANT_LEFT(sign)          \
  template <class A>                  \
  Left<A> operator sign(A a, Op op) { \
    return {a, op.id};                \
  }
#define FH_MUTANT_COMPARE(sign, first, second)       \
  FH_MUTANT_LEFT(sign)                               \
  template <class A, class B>                        \
  bool operator sign(const Left<A>& l, const B& b) { \
    if (active == l.id) return l.a first b;          \
    if (active == l.id + 1) return l.a second b;     \
    return l.a sign b;                               \
  }
#define FH_MUTANT_COMPUTE(sign, other)                                     \
  FH_MUTANT_LEFT(sign)                                                     \
  template <class A, class B>                                              \
  auto operator sign(const Left<A>& l, const B& b) {                       \
    using Result = decltype(l.a sign b);                                   \
    return active == l.id ? static_cast<Result>(l.a other b) : l.a sign b; \
  }
// One alternative: the second number belongs to the next place.
#define FH_MUTANT_EQUAL(sign, other)                  \
  FH_MUTANT_LEFT(sign)                                \
  template <class A, class B>                         \
  bool operator sign(const Left<A>& l, const B& b) {  \
    return active == l.id ? l.a other b : l.a sign b; \
  }
FH_MUTANT_COMPARE(<, <=, >=)
FH_MUTANT_COMPARE(<=, <, >)
FH_MUTANT_COMPARE(>, >=, <=)
FH_MUTANT_COMPARE(>=, >, <)
FH_MUTANT_EQUAL(==, !=)
FH_MUTANT_EQUAL(!=, ==)
FH_MUTANT_EQUAL(&&, ||)
FH_MUTANT_EQUAL(||, &&)
FH_MUTANT_COMPUTE(+, -)
FH_MUTANT_COMPUTE(-, +)
FH_MUTANT_COMPUTE(*, /)
FH_MUTANT_COMPUTE(/, *)
FH_MUTANT_COMPUTE(%, /)
FH_MUTANT_COMPUTE(&, |)
FH_MUTANT_COMPUTE(|, &)
FH_MUTANT_COMPUTE(<<, >>)
FH_MUTANT_COMPUTE(>>, <<)

}  // namespace fh_m

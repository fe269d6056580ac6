/* Formulas by recursive descent. The language is that of tinyexpr: + - * / % ^ (left to right, and
 * a sign binds more closely than ^), commas nowhere but between arguments, log to base 10, and the
 * functions that polyfem adds. */
#include "formula.h"

#include "internal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

typedef struct Formula {
    const char *at;
    const double *v;
    unsigned uses;
    int depth;
    const char *wrong; /* the first place that is not understood */
} Formula;

static double sum(Formula *f);

static double smoothstep(double a) { return a <= 0 ? 0 : a >= 1 ? 1 : a * a * (3 - 2 * a); }

static double call1(const char *name, double a, bool *known)
{
    static const struct {
        const char *name;
        double (*of)(double);
    } functions[] = {{"abs", fabs},  {"acos", acos}, {"asin", asin},
                     {"atan", atan}, {"ceil", ceil}, {"cos", cos},
                     {"cosh", cosh}, {"exp", exp},   {"floor", floor},
                     {"ln", log},    {"log", log10}, {"log10", log10},
                     {"sin", sin},   {"sinh", sinh}, {"sqrt", sqrt},
                     {"tan", tan},   {"tanh", tanh}, {"smoothstep", smoothstep}};
    for (size_t i = 0; i < BRIO_COUNT(functions); i++)
        if (!strcmp(functions[i].name, name)) return functions[i].of(a);
    if (!strcmp(name, "deg2rad")) return a * (3.14159265358979323846 / 180);
    if (!strcmp(name, "sign")) return (a > 0) - (a < 0);
    *known = false;
    return 0;
}

static double call(const char *name, int count, const double *a, bool *known)
{
    if (count == 1) return call1(name, a[0], known);
    if (count == 2 && !strcmp(name, "atan2")) return atan2(a[0], a[1]);
    if (count == 2 && !strcmp(name, "pow")) return pow(a[0], a[1]);
    if (count == 2 && !strcmp(name, "min")) return fmin(a[0], a[1]);
    if (count == 2 && !strcmp(name, "max")) return fmax(a[0], a[1]);
    if (count == 2 && !strcmp(name, "smooth_abs")) return tanh(a[1] * a[0]) * a[0];
    if (count == 3 && !strcmp(name, "rotate_2D_x")) return a[0] * cos(a[2]) - a[1] * sin(a[2]);
    if (count == 3 && !strcmp(name, "rotate_2D_y")) return a[0] * sin(a[2]) + a[1] * cos(a[2]);
    if (count == 3 && (!strcmp(name, "if") || !strcmp(name, "iflargerthanzerothenelse")))
        return a[0] >= 0 ? a[1] : a[2];
    *known = false;
    return 0;
}

static void skip(Formula *f)
{
    while (isspace((unsigned char)*f->at)) f->at++;
}

static bool take(Formula *f, char c)
{
    skip(f);
    if (*f->at != c) return false;
    f->at++;
    return true;
}

static double fail(Formula *f, const char *place)
{
    if (!f->wrong) f->wrong = place;
    return 0;
}

/* A variable, a constant, or a function with its arguments in parentheses. */
static double named(Formula *f)
{
    const char *start = f->at;
    char name[40];
    int length = 0, count = 0;
    double a[4];
    while (isalnum((unsigned char)*f->at) || *f->at == '_') {
        if (length < 39) name[length++] = *f->at;
        f->at++;
    }
    name[length] = 0;
    if (length == 1 && strchr("xyzt", name[0])) {
        int i = (int)(strchr("xyzt", name[0]) - "xyzt");
        f->uses |= 1U << i;
        return f->v[i];
    }
    if (!strcmp(name, "pi")) return 3.14159265358979323846;
    if (!strcmp(name, "e")) return 2.71828182845904523536;
    if (!take(f, '(')) return fail(f, start);
    do {
        if (count == 4) return fail(f, f->at);
        a[count++] = sum(f);
    } while (!f->wrong && take(f, ','));
    if (!take(f, ')')) return fail(f, f->at);
    bool known = true;
    double value = call(name, count, a, &known);
    return known ? value : fail(f, start);
}

static double base(Formula *f)
{
    skip(f);
    if (f->wrong || ++f->depth > MAX_DEPTH) return fail(f, f->at);
    double value = 0;
    if (*f->at == '-' || *f->at == '+') {
        bool minus = *f->at++ == '-';
        value = base(f);
        if (minus) value = -value;
    } else if (take(f, '(')) {
        value = sum(f);
        if (!take(f, ')')) fail(f, f->at);
    } else if (isdigit((unsigned char)*f->at) || *f->at == '.') {
        char *end;
        value = brio__text_real(f->at, &end);
        if (end == f->at) fail(f, f->at);
        f->at = end;
    } else if (isalpha((unsigned char)*f->at)) {
        value = named(f);
    } else {
        fail(f, f->at);
    }
    f->depth--;
    return value;
}

static double power(Formula *f)
{
    double value = base(f);
    while (!f->wrong && take(f, '^')) value = pow(value, base(f));
    return value;
}

static double product(Formula *f)
{
    double value = power(f);
    while (!f->wrong) {
        if (take(f, '*'))
            value *= power(f);
        else if (take(f, '/'))
            value /= power(f);
        else if (take(f, '%'))
            value = fmod(value, power(f));
        else
            break;
    }
    return value;
}

static double sum(Formula *f)
{
    double value = product(f);
    while (!f->wrong) {
        if (take(f, '+'))
            value += product(f);
        else if (take(f, '-'))
            value -= product(f);
        else
            break;
    }
    return value;
}

const char *formula_value(const char *text, const double v[4], double *value, unsigned *uses)
{
    Formula f = {.at = text, .v = v};
    *value = sum(&f);
    skip(&f);
    if (!f.wrong && *f.at) f.wrong = f.at;
    if (uses) *uses = f.uses;
    return f.wrong;
}

/* libFuzzer target for formulas of scenes: any text compiles to something that can be evaluated,
 * with the same value with and without derivatives, or is rejected with a sentence and a place in
 * the text. */
#include "force/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    BrioFormula formula;
    BrioError error = {0};
    int column = 0;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    const size_t length = strlen(text);
    if (brio__formula_compile(text, &formula, &column, &error) == BRIO_OK) {
        static const double place[3][3] = {{0, 0, 0}, {1, -2, 0.5}, {1e9, -1e-9, 3}};
        for (int k = 0; k < 3; k++) {
            double gradient[3], hessian[6],
                value = brio__formula_value(&formula, place[k], 0.7 * k);
            double same = brio__formula_derivatives(&formula, place[k], 0.7 * k, gradient, hessian);
            expect(value == same || (isnan(value) && isnan(same)));
        }
        expect(formula.count > 0 && formula.count <= BRIO_FORMULA_CODE);
    } else {
        expect(error.message[0] && column >= 1 && (size_t)column <= length + 1);
    }
    free(text);
    return 0;
}

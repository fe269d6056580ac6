/* The schema of scenes: rows are complete, and the defaults of C structs equal those of the rows.
 * (That docs/scene.md shows every row is part of the tests of the program.) */
#include "contact/law.h"
#include "scene/bodies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Every row has a name that its section has once, a sentence, a range that holds its default. */
static void rows_are_complete(void **state)
{
    (void)state;
    int rows = 0;
    for (int i = 0; brio__scene_section_at(i); i++) {
        const BrioSection *section = brio__scene_section_at(i);
        int count = 0;
        for (const BrioKey *key = section->keys; key->field.name; key++, count++, rows++) {
            const BrioField *f = &key->field;
            const char *sentence = f->summary;
            bool numbers = key->form == BRIO_KEY_FIELD && f->type != BRIO_CHOICE;
            if (!sentence || !sentence[0] || sentence[strlen(sentence) - 1] != '.')
                fail_msg("%s.%s: its sentence has no end", section->path, f->name);
            if (numbers && !(f->min < f->max))
                fail_msg("%s.%s: its range is empty", section->path, f->name);
            if (key->form == BRIO_KEY_OTHER && !key->takes)
                fail_msg("%s.%s: it does not say what it takes", section->path, f->name);
            if (numbers && !key->words && isfinite(f->default_value) &&
                !(f->default_value >= f->min && f->default_value <= f->max))
                fail_msg("%s.%s: its default is out of range", section->path, f->name);
            for (const BrioKey *other = section->keys; other < key; other++)
                assert_string_not_equal(other->field.name, f->name);
        }
        assert_true(count > 0 && count < 32); /* the reader has room for so many */
        assert_ptr_equal(brio__scene_section(section->path), section);
    }
    print_message("%d rows\n", rows);
    assert_true(rows > 100);
}

static bool same(const BrioKey *key, const void *a, const void *b)
{
    const char *x = (const char *)a + key->offset, *y = (const char *)b + key->offset;
    const char *text[2];
    switch (key->store) {
    case BRIO_STORE_TEXT:
        memcpy(&text[0], x, sizeof text[0]);
        memcpy(&text[1], y, sizeof text[1]);
        return text[0] && text[1] ? !strcmp(text[0], text[1]) : text[0] == text[1];
    case BRIO_STORE_REAL: return !memcmp(x, y, sizeof(double));
    case BRIO_STORE_REALS: return !memcmp(x, y, (size_t)brio__key_width(key) * sizeof(double));
    case BRIO_STORE_INT: return !memcmp(x, y, sizeof(int));
    case BRIO_STORE_INT64: return !memcmp(x, y, sizeof(int64_t));
    case BRIO_STORE_BOOL: return !memcmp(x, y, sizeof(bool));
    case BRIO_STORE_NONE: break;
    }
    return true;
}

static int compared;

/* The rows of a section whose place is below `size` give the struct that C code starts with. */
static void compare(const char *path, const void *in_c, size_t from, size_t size, void *room,
                    size_t whole)
{
    const BrioSection *section = brio__scene_section(path);
    assert_non_null(section);
    memset(room, 0x5a, whole); /* nothing is equal by chance */
    brio__key_defaults(section->keys, room);
    for (const BrioKey *key = section->keys; key->field.name; key++) {
        if (key->store == BRIO_STORE_NONE || key->offset < from || key->offset >= from + size)
            continue;
        if (!same(key, room, in_c))
            fail_msg("%s.%s: the default in C is not that of its row", path, key->field.name);
        compared++;
    }
}

static void defaults_in_c(void **state)
{
    (void)state;
    BrioSolverOptions solver = brio_default_solver(), solver_room;
    BrioContactDef contact = brio_default_contact(), contact_room;
    BrioScript script = brio_default_script(), script_room;
    static BrioScene scene, scene_room;
    static BrioBodyWork body, body_room;
    scene.def = brio_default_sim("backward-euler");
    body.def = brio_default_body();
    compare("time", &scene, offsetof(BrioScene, def), sizeof scene.def, &scene_room, sizeof scene);
    compare("solver", &solver, 0, sizeof solver, &solver_room, sizeof solver);
    compare("solver.linear", &solver, 0, sizeof solver, &solver_room, sizeof solver);
    compare("contact", &contact, 0, sizeof contact, &contact_room, sizeof contact);
    compare("bodies[].fix[].script", &script, 0, sizeof script, &script_room, sizeof script);
    compare("bodies[]", &body, offsetof(BrioBodyWork, def), sizeof body.def, &body_room,
            sizeof body);
    compare("bodies[].velocity", &body, offsetof(BrioBodyWork, def), sizeof body.def, &body_room,
            sizeof body);
    print_message("%d defaults\n", compared);
    assert_int_equal(compared, 1 + 9 + 1 + 5 + 5 + 5 + 3);
}

/* Every field of a law is a key of `contact` that the section does not have, and one number with a
 * member to go to; the defaults in C are those of their law. */
static void laws(void **state)
{
    (void)state;
    BrioContactDef contact = brio_default_contact();
    const BrioSection *section = brio__scene_section("contact");
    assert_non_null(section);
    for (int i = 0; brio__law_at(i); i++) {
        const BrioLaw *law = brio__law_at(i);
        for (const BrioField *f = law->fields; f->name; f++) {
            assert_int_equal(brio__field_width(f), 1);
            const double *member = brio__contact_member(&contact, f->name);
            if (!member) fail_msg("%s.%s goes nowhere", law->name, f->name);
            if (!strcmp(law->name, contact.law)) assert_true(*member == f->default_value);
            for (const BrioKey *key = section->keys; key->field.name; key++)
                assert_string_not_equal(key->field.name, f->name);
        }
    }
    assert_true(brio__law_find(contact.law) >= 0);
    assert_true(contact.self == 0);
}

/* No transform, and one of defaults only, is what bodies and obstacles of C code have. */
static void transforms(void **state)
{
    (void)state;
    BrioPlacement none = brio__placement(), empty = {{0}, {0}};
    BrioBodyDef body = brio_default_body();
    BrioObstacleDef obstacle = brio_default_obstacle();
    BrioNode *tree = NULL;
    assert_int_equal(brio__tree_parse("{}", 2, "test", &tree, NULL), BRIO_OK);
    assert_int_equal(brio__read_transform(tree, &empty, NULL), BRIO_OK);
    brio__tree_free(tree);
    for (int i = 0; i < 9; i++) {
        assert_true(none.linear[i] == empty.linear[i] && none.linear[i] == body.linear[i] &&
                    none.linear[i] == obstacle.linear[i]);
        if (i < 3)
            assert_true(none.translate[i] == empty.translate[i] &&
                        none.translate[i] == body.translate[i] &&
                        none.translate[i] == obstacle.translate[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_complete),
                                       cmocka_unit_test(defaults_in_c), cmocka_unit_test(laws),
                                       cmocka_unit_test(transforms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* References as BibTeX (bibtex.h).
 *
 * A reference reads "Ann B. Cee and Dan Eff. A title. Journal 12(3), pp. 4-56, 2001." Sentences end
 * with a period and a space; an initial ("B.") does not end one. A journal with its volume makes an
 * @article, everything else a @misc with the rest of the sentence under howpublished. */
#include "bibtex.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct Span {
    const char *text;
    int length;
} Span;

/* The sentence at *at, without its period; moves *at behind it. */
static Span sentence(const char **at)
{
    const char *begin = *at, *word = begin, *end = begin;
    for (; *end; end++) {
        if (*end == ' ') word = end + 1;
        bool initial = end - word == 1 && isupper((unsigned char)*word);
        if (*end == '.' && (!end[1] || (end[1] == ' ' && !initial))) break;
    }
    *at = end + strspn(end, ". ");
    return (Span){begin, (int)(end - begin)};
}

/* Whether a word that is no part of a name begins at `word`. */
static bool is_common(const char *word, int length)
{
    static const char *const particles[] = {"and", "others", "van",  "von",
                                            "de",  "der",    "brio", "authors"};
    if (!islower((unsigned char)*word)) return false;
    for (size_t i = 0; i < sizeof particles / sizeof *particles; i++)
        if ((int)strlen(particles[i]) == length && !strncmp(word, particles[i], (size_t)length))
            return false;
    return true;
}

static bool are_names(Span s)
{
    for (int i = 0; i < s.length;) {
        int length = (int)strcspn(s.text + i, " ,.");
        if (length > s.length - i) length = s.length - i;
        if (length > 0 && is_common(s.text + i, length)) return false;
        i += length + 1;
    }
    return true;
}

/* Names with "and" between them, as BibTeX separates them. */
static void print_names(FILE *file, Span s)
{
    bool group = s.length > 4 && !strncmp(s.text, "The ", 4); /* BibTeX takes braces for one name */
    fprintf(file, group ? "  author = {{" : "  author = {");
    for (int i = 0; i < s.length; i++)
        if (s.text[i] == ',')
            fprintf(file, " and");
        else
            fputc(s.text[i], file);
    fprintf(file, group ? "}},\n" : "},\n");
}

/* The last number of four digits; 0: none. */
static int find_year(const char *text)
{
    int year = 0;
    for (const char *c = text; *c; c++) {
        int digits = (int)strspn(c, "0123456789"), value = 0;
        for (int i = 0; i < digits; i++) value = digits == 4 ? 10 * value + (c[i] - '0') : 0;
        if (value >= 1800 && value <= 2100) year = value;
        if (digits) c += digits - 1;
    }
    return year;
}

/* "Journal 12(3), pp. 4-56": the journal, its volume and number; false: it is something else. */
static bool find_volume(Span rest, Span *journal, Span *volume, Span *number)
{
    for (int i = 1; i < rest.length; i++) {
        const char *c = rest.text + i;
        int digits = (int)strspn(c, "0123456789");
        if (c[-1] != ' ' || !digits || c[digits] != '(') continue;
        const char *close = strchr(c, ')');
        if (!close || memchr(rest.text, ',', (size_t)i)) return false;
        *journal = (Span){rest.text, i - 1};
        *volume = (Span){c, digits};
        *number = (Span){c + digits + 1, (int)(close - c) - digits - 1};
        return true;
    }
    return false;
}

/* The pages or the article number that follow a volume. */
static void print_pages(FILE *file, const char *after)
{
    const char *pages = strstr(after, "pp. "), *article = strstr(after, "rticle ");
    if (pages) {
        pages += 4;
        int first = (int)strspn(pages, "0123456789");
        bool range = pages[first] == '-';
        int last = range ? (int)strspn(pages + first + 1, "0123456789") : 0;
        fprintf(file, "  pages = {%.*s%s%.*s},\n", first, pages, range ? "--" : "", last,
                pages + first + 1);
    } else if (article) {
        article += 7;
        fprintf(file, "  articleno = {%.*s},\n", (int)strspn(article, "0123456789"), article);
    }
}

void bibtex_print(FILE *file, const char *key, const char *text)
{
    const char *at = text;
    Span names = sentence(&at), journal, volume, number;
    bool named = are_names(names);
    Span title = named ? sentence(&at) : names;
    Span rest = {at, (int)strlen(at)};
    if (rest.length && rest.text[rest.length - 1] == '.') rest.length--;
    bool article = find_volume(rest, &journal, &volume, &number);
    fprintf(file, "@%s{%s,\n", article ? "article" : "misc", key);
    if (named) print_names(file, names);
    fprintf(file, "  title = {{%.*s}},\n", title.length, title.text);
    if (article) {
        fprintf(file, "  journal = {%.*s},\n", journal.length, journal.text);
        fprintf(file, "  volume = {%.*s},\n", volume.length, volume.text);
        fprintf(file, "  number = {%.*s},\n", number.length, number.text);
        print_pages(file, number.text);
    } else {
        fprintf(file, "  howpublished = {%.*s},\n", rest.length, rest.text);
    }
    fprintf(file, "  year = {%d}\n}\n", find_year(text));
}

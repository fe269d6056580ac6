/* `materials` of a scene and `material` of a body. Their parameters are rows of the material's own
 * field table. */
#include "read.h"

static const char *const type_key[] = {"type"};

BrioStatus brio__read_material(BrioNode *materials, BrioNode *node, BrioMaterial *material,
                               BrioError *error)
{
    const char *name, *names[160];
    int count = 0, max = BRIO_COUNT(names);
    BRIO_CHECK(brio__type_of(node, &name, error));
    BrioNode *defined = materials ? brio__node_get(materials, name) : NULL;
    if (defined && defined->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(brio__read_material(NULL, defined, material, error));
    } else if (brio_default_material(name, material, NULL) != BRIO_OK) {
        for (int i = 0; materials && i < materials->count && count < 100; i++)
            names[count++] = materials->child[i]->key;
        for (int i = 0; brio_preset_at(i) && count < max; i++) names[count++] = brio_preset_at(i);
        for (int i = 0; brio_material_at(i) && count < max; i++)
            names[count++] = brio_material_at(i);
        return brio__no_such(brio__type_node(node), materials ? "material" : "material type", name,
                             names, count, error);
    }
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    return brio__node_change_fields(node, brio_material_fields(material->type), type_key, 1,
                                    material->values, error);
}

BrioStatus brio__read_materials(BrioNode *materials, BrioError *error)
{
    BrioMaterial material;
    if (!materials) return BRIO_OK;
    BRIO_CHECK(brio__expect(materials, BRIO_NODE_MAP, error));
    for (int i = 0; i < materials->count; i++) {
        BRIO_CHECK(brio__expect(materials->child[i], BRIO_NODE_MAP, error));
        BRIO_CHECK(brio__read_material(NULL, materials->child[i], &material, error));
    }
    return BRIO_OK;
}

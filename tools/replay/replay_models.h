/* SPDX-License-Identifier: MIT */
/* replay_models.h - print the memory of simulated allocators */
#ifndef REPLAY_MODELS_H
#define REPLAY_MODELS_H

#include "tools/model/model_run.h"
#include "tools/replay/replay_output.h"

#define REPLAY_MODELS_MAX 16

struct replay_models {
	struct model list[REPLAY_MODELS_MAX];
	struct model_result results[REPLAY_MODELS_MAX];
	unsigned count;
};

/* Run all models.  On failure print a message and return false. */
bool models_run(struct replay_models *models, const struct compiled *compiled);

/* Print the table, in Markdown if the view requests it. */
void models_print_text(struct out *o, const struct replay_view *view,
		       const struct replay_models *models);

/* Print one JSON object.  On failure print a message and return false. */
bool models_print_json(struct out *o, const struct replay_view *view,
		       const struct replay_models *models);

#endif /* REPLAY_MODELS_H */

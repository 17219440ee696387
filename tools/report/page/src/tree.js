/*
 * tree.js - call trees from sites
 *
 * A tree has one measure, one unit and one grouping.  It leaves out sites whose
 * value is 0 or less.
 */

export const GROUPS = {
  function: 'Function',
  line: 'Function and line',
  file: 'File',
  module: 'Module',
  thread: 'Thread, then function',
};

class Node {
  constructor(parent, key, label, frame) {
    this.parent = parent;
    this.key = key;
    this.label = label;
    this.frame = frame;
    this.value = 0;
    this.own = 0;
    this.map = null;
    this.depth = parent ? parent.depth + 1 : 0;
  }

  child(key, label, frame) {
    this.map ??= new Map();
    let node = this.map.get(key);
    if (!node) {
      node = new Node(this, key, label, frame);
      this.map.set(key, node);
    }
    return node;
  }

  get children() {
    return this.map ? [...this.map.values()] : [];
  }
}

/* Return a function that maps a frame to [key, label] in a grouping. */
function naming(trace, group) {
  const { frames } = trace;
  switch (group) {
  case 'module':
    return (f) => [frames.module[f],
      trace.frameModule(f) || '(unknown module)'];
  case 'file':
    return (f) => [frames.file[f], trace.frameFile(f) || '(unknown file)'];
  case 'line':
    return (f) => [f, trace.frameName(f) +
      (frames.line[f] ? `:${frames.line[f]}` : '')];
  default:
    return (f) => [`${frames.function[f]} ${frames.module[f]}`,
      trace.frameName(f)];
  }
}

/* The names of all frames; each is made once. */
function namesOf(trace, group) {
  const name = naming(trace, group);
  return trace.frames.function.map((_, frame) => name(frame));
}

/*
 * In these groupings, adjacent frames of a path that have the same name are one
 * frame.
 */
const MERGES = new Set(['module', 'file']);

/*
 * Build the tree of 'values', which has a value for each row of 'table'.  This
 * is the table of sites, or the table of pairs.  A pair has the row of its
 * site, or -1 for all sites that the table of pairs does not list.  If
 * 'inverted', the allocating function comes first, with its callers below it.
 */
export function buildTree(trace, table, values, group, inverted) {
  const root = new Node(null, '', trace.stacks ? 'all call stacks' : 'all', -1);
  const names = namesOf(trace, group);
  const merges = MERGES.has(group);

  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (!(value > 0))
      continue;
    const site = table.site ? table.site[row] : row;
    const path = site < 0 ? [] : trace.path(trace.sites.node[site]);
    if (inverted)
      path.reverse();
    let node = root;
    const enter = (key, label, frame) => {
      node = node.child(key, label, frame);
      node.value += value;
    };
    node.value += value;
    if (group === 'thread')
      enter(`thread ${table.thread[row]}`,
        trace.threadName(table.thread[row]), -1);
    if (site < 0)
      enter('others', '(small sites)', -1);
    for (const frame of path) {
      const [key, label] = names[frame];
      if (!merges || node.key !== key)
        enter(key, label, frame);
    }
    node.own += value;
  }
  return root;
}

// How the search ranks what it finds, in place of Sphinx's own numbers: what says how to do something comes before what
// says why it is so.
var PARTS = [
  ["cookbook/", 2.0],
  ["guide/", 1.5],
  ["reference/", 1.3],
  ["theory/", 0.7],
  ["decisions/", 0.3],
  ["project/", 0.3],
];

var Scorer = {
  score: ([docname, , , , score]) => score * (PARTS.find(([folder]) => docname.startsWith(folder)) ?? ["", 1.0])[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// Where the manual and the papers are. The page is one file: in a source tree the manual lies
// next to
// its folder, where brio is installed among the documents.
const PLACES = [
  [/\/share\/brio\/[^/]*$/, '../doc/brio/'],
  [/./, '../docs/'],
];

export function manualLink(page) {
  if (location.protocol !== 'file:') return null; // what serves the page does not serve the manual
  const [, folder] = PLACES.find(([where]) => where.test(location.pathname));
  return `${folder}${page}.md`;
}

const PAPERS = {
  Gentle2025: null, // a page of the web that has moved about
  Baraff1998: 'https://doi.org/10.1145/280814.280821',
  Bouaziz2014: 'https://doi.org/10.1145/2601097.2601116',
  Li2020: 'https://doi.org/10.1145/3386569.3392425',
  Liu2013: 'https://doi.org/10.1145/2508363.2508406',
  You2026: 'https://arxiv.org/abs/2602.08094',
};

// The paper itself, or a search for it.
export function paperLink(key, citation) {
  if (key in PAPERS) return PAPERS[key];
  return `https://scholar.google.com/scholar?q=${encodeURIComponent(citation)}`;
}

// Where the manual and the papers are. The page is one file: in a source tree the manual lies beside
// its folder, where brio is installed among the documents.
const PLACES = [[/\/share\/brio\/[^/]*$/, '../doc/brio/'], [/./, '../docs/']];

export function manualLink(page) {
  if (location.protocol !== 'file:') return null; // what serves the page does not serve the manual
  const [, folder] = PLACES.find(([where]) => where.test(location.pathname));
  return `${folder}${page}.md`;
}

const SURE = {
  Baraff1998: 'https://doi.org/10.1145/280814.280821',
  Bouaziz2014: 'https://doi.org/10.1145/2601097.2601116',
  Li2020: 'https://doi.org/10.1145/3386569.3392425',
  Liu2013: 'https://doi.org/10.1145/2508363.2508406',
  You2026: 'https://arxiv.org/abs/2602.08094',
};

// The paper itself, or a search for its title.
export function paperLink(key, citation) {
  if (SURE[key]) return SURE[key];
  const title = citation.split('. ').slice(1, 2)[0] ?? citation;
  return `https://scholar.google.com/scholar?q=${encodeURIComponent(`"${title}"`)}`;
}

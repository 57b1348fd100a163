// The commonest of ripgrep's types, for where there is no ripgrep.
const TYPES: Readonly<Record<string, string>> = {
  c: '*.{c,h}',
  cpp: '*.{cpp,cc,cxx,hpp,hh,hxx,h,inl}',
  cs: '*.cs',
  css: '*.{css,scss}',
  go: '*.go',
  html: '*.{html,htm,ejs}',
  java: '*.{java,jsp,jspx,properties}',
  js: '*.{js,jsx,mjs,cjs,vue}',
  json: '*.{json,sarif}',
  kotlin: '*.{kt,kts}',
  lua: '*.lua',
  markdown: '*.{md,mdx,markdown,mdown,mkd,mkdn,mdwn}',
  md: '*.{md,mdx,markdown,mdown,mkd,mkdn,mdwn}',
  php: '*.{php,php3,php4,php5,php7,php8,pht,phtml}',
  py: '*.{py,pyi}',
  python: '*.{py,pyi}',
  ruby: '*.{rb,rbw,gemspec}',
  rust: '*.rs',
  sh: '*.{sh,bash,zsh,csh,ksh,tcsh}',
  sql: '*.{sql,psql}',
  swift: '*.swift',
  toml: '*.toml',
  ts: '*.{ts,tsx,mts,cts}',
  txt: '*.txt',
  xml: '*.{xml,xsd,xsl,xslt,dtd,rng}',
  yaml: '*.{yaml,yml}',
};

/** The glob of a file type, or the types there are. */
export function typeGlob(type: string): { readonly glob: string } | { readonly known: string } {
  const glob = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  return glob === undefined ? { known: Object.keys(TYPES).join(', ') } : { glob };
}

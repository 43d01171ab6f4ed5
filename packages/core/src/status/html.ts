const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A part of a page that needs no escaping. Made by `html` alone. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What stands in a page: texts are escaped, lists joined, undefined and false left out. */
type Part = string | number | false | undefined | Html | readonly Part[];

/** A template of HTML: all that is put in is escaped, in texts and in quoted attributes alike. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(literals.map((literal, i) => literal + textOf(parts[i])).join(''));
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, (one) => ENTITIES[one] as string);
}

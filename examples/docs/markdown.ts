/**
 * Lays a plain text out as Markdown: its first line becomes the title, a line that ends with a colon a heading, and what
 * begins with a bullet a list item. A text that is laid out so already stays as it is.
 */
export function asMarkdown(text: string): string {
  const out: string[] = [];
  const apart = (line: string) => {
    if (out.length > 0 && out.at(-1) !== '') out.push('');
    out.push(line, '');
  };
  for (const line of text.split('\n').map((one) => one.trim())) {
    const bullet = /^[*•-]\s+(.*)$/.exec(line)?.[1];
    if (line === '') {
      if (out.length > 0 && out.at(-1) !== '') out.push('');
    } else if (/^#{1,6}\s/.test(line)) apart(line);
    else if (out.length === 0) apart(`# ${capital(line.replace(/:$/, ''))}`);
    else if (line.endsWith(':')) apart(`## ${capital(line.slice(0, -1))}`);
    else out.push(bullet === undefined ? line : `- ${bullet}`);
  }
  return `${out.join('\n').trim()}\n`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

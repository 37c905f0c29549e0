export function saveFile(name: string, content: string | Blob, type = "application/json"): void {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Wait, because the browser reads large files after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

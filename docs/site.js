// Parts that the theme makes when it starts get the names and the keyboard focus that screen readers and the arrow keys
// need.
const complete = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  // The label of a section with an own page is an icon; its contents have the name in a title.
  for (const nav of document.querySelectorAll("nav.md-nav[aria-labelledby]"))
    if (!document.getElementById(nav.getAttribute("aria-labelledby"))?.textContent.trim()) {
      nav.setAttribute("aria-label", nav.querySelector(".md-nav__title").textContent.trim());
      nav.removeAttribute("aria-labelledby");
    }
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code"))
    if (!wide.hasAttribute("tabindex")) wide.setAttribute("tabindex", "0");
  // On a phone wide pictures, formulas and tables of notebooks are scrolled (site.css).
  for (const wide of document.querySelectorAll(".md-typeset p:has(> img), .md-typeset math[display='block'], .md-typeset table.dataframe")) {
    const scrolled = getComputedStyle(wide).overflowX === "auto" && wide.scrollWidth > wide.clientWidth;
    if (scrolled && wide.tabIndex < 0) wide.setAttribute("tabindex", "0");
    else if (!scrolled && wide.tabIndex >= 0) wide.removeAttribute("tabindex");
  }
  document.querySelectorAll("nav.md-code__nav").forEach((buttons, at) => {
    if (!buttons.hasAttribute("aria-label")) buttons.setAttribute("aria-label", `Buttons of code ${at + 1}`);
  });
};
complete();
for (const event of ["load", "resize"]) addEventListener(event, complete);
new MutationObserver(complete).observe(document.body, {
  attributeFilter: ["tabindex"], attributes: true, childList: true, subtree: true,
});
